// What tsc -b cannot say: which packages a layer may use, and habits that hide mistakes.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const jupyter = ['@jupyterlab/*', '@jupyter-widgets/*', '@jupyter/*', '@lumino/*'];

/** Imports closed to one layer of js/; `allowTypeImports` leaves types open where only the run-time import is wrong. */
const closed = (group, message, allowTypeImports = false) => ({
  '@typescript-eslint/no-restricted-imports': ['error', { patterns: [{ group, message, allowTypeImports }] }]
});

export default tseslint.config(
  { ignores: ['js/lib/**', 'node_modules/**', 'gradlab/**', '.venv/**', 'build/**'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['js/**/*.ts'],
    rules: {
      eqeqeq: 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'AssignmentExpression > MemberExpression.left[property.name=/^(innerHTML|outerHTML)$/]',
          message: 'All text that reaches the DOM is text: use textContent.'
        },
        {
          selector: 'CallExpression[callee.property.name=/^(insertAdjacentHTML|createContextualFragment)$/]',
          message: 'All text that reaches the DOM is text: use textContent.'
        }
      ]
    }
  },
  {
    files: ['js/protocol/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^(?!\\./)', message: 'protocol/ stands alone: no packages, no other layer.' }] }
      ]
    }
  },
  {
    files: ['js/draw/**/*.ts'],
    rules: {
      ...closed([...jupyter, '@anywidget/*', '@preact/*'], 'draw/ is pure drawing: it knows no Jupyter, no widget and no store.'),
      'no-restricted-globals': ['error', 'fetch', 'WebSocket', 'XMLHttpRequest']
    }
  },
  {
    files: ['js/panels/**/*.ts'],
    rules: closed(jupyter, 'Panels run in every front end: what needs JupyterLab belongs in lab/.')
  },
  {
    files: ['js/lab/**/*.ts'],
    rules: closed(['**/panels/**', '**/draw/**'], 'lab/ reaches panels through the page; it takes their types only (import type).', true)
  },
  {
    files: ['js/test/**/*.ts'],
    rules: { '@typescript-eslint/no-explicit-any': 'off' }
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } }
  }
);
