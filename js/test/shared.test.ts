import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SHARED } from '../panels/shared';

it('the first part lends all of signals-core that any module takes', () => {
  const js = join(import.meta.dirname, '..');
  const files = ['panels', 'draw', 'protocol'].flatMap(folder => readdirSync(join(js, folder)).map(file => join(js, folder, file)));
  const taken = files
    .filter(file => file.endsWith('.ts'))
    .flatMap(file => [...readFileSync(file, 'utf8').matchAll(/^import \{(.+)\} from '@preact\/signals-core'/gm)])
    .flatMap(([, names]) => names!.split(',').map(name => name.trim()))
    .filter(name => !name.startsWith('type ') && !/^(Readonly)?Signal$/.test(name));
  expect(taken.length).toBeGreaterThan(10);
  expect(Object.keys(SHARED['@preact/signals-core']!)).toEqual(expect.arrayContaining([...new Set(taken)]));
});
