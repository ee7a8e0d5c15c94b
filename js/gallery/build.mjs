// Builds the gallery into js/lib/gallery: open index.html there, no kernel and no server needed.
import * as esbuild from 'esbuild';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';

const out = 'js/lib/gallery';
mkdirSync(out, { recursive: true });
copyFileSync('js/gallery/index.html', `${out}/index.html`);
const folder = 'tests/protocol';
const recorded = {};
for (const file of readdirSync(folder).filter(name => name.endsWith('.json'))) {
  recorded[file.slice(0, -5)] = JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'));
}

await esbuild.build({
  entryPoints: ['js/gallery/gallery.ts', 'js/gallery/drawing.ts'],
  bundle: true,
  // A module script can't be read from file:, a classic one can.
  format: 'iife',
  target: 'es2022',
  loader: { '.css': 'text' },
  define: { RECORDED: JSON.stringify(recorded) },
  outdir: out,
  logLevel: 'info'
});
