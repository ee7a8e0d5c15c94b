import { describe, expect, it } from 'vitest';
import { stretch } from '../panels/operands';
import { outOfBand } from '../panels/optimizer';
import { pathName } from '../panels/pathname';
import { closeRows, fitName, shortNames, visibleRows } from '../panels/rows';
import { isDark } from '../panels/theme';

describe('small decisions', () => {
  it('a missing or single axis is stretched to the size of the output', () => {
    expect(stretch([64], [32, 64])).toEqual([
      { size: 32, stretched: true },
      { size: 64, stretched: false }
    ]);
    expect(stretch([32, 1], [32, 64])[1]).toEqual({ size: 64, stretched: true });
    expect(stretch([1], [1])[0]!.stretched).toBe(false);
  });

  it('lines are of the selected rows, or of weights spread over the depth', () => {
    const rows = [1, 2, 3, 4, 5].flatMap(n => [`fc${n}.weight`, `fc${n}.bias`]);
    expect(closeRows(rows, new Set())).toEqual(['fc1.weight', 'fc3.weight', 'fc5.weight']);
    expect(closeRows(rows, new Set(['fc2.bias']))).toEqual(['fc2.bias']);
  });

  it('names that are cut keep their ends and differ from each other', () => {
    const names = (all: string[], width: number) => shortNames(all, width, '10px x');
    expect(names(['attn.query.weight', 'attn.key.bias'], 80)).toEqual(['query.weight', 'key.bias']);
    expect(names(['blocks.1.fc.weight', 'blocks.2.fc.weight'], 66)).toEqual(['1.fc.weight', '2.fc.weight']);
    expect(names(['generator.0.weight', 'critic.0.weight'], 60)).toEqual(['g…0.weight', 'c…0.weight']);
    expect(new Set(names(['encoder.0.weight', 'decoder.0.weight', 'critic.0.weight'], 48)).size).toBe(3);
    expect(names(['layernormalization_weight'], 60)[0]).toMatch(/^laye…eight$/);
  });

  it('names that begin alike leave out as many words, so that a list of them reads as one', () => {
    const all = ['stem.weight', 'blocks.0.conv1.weight', 'blocks.0.conv1.scale', 'blocks.1.conv1.weight', 'blocks.1.conv1.scale'];
    expect(shortNames(all, 100, '10px x')).toEqual(['stem.weight', '0.conv1.weight', '0.conv1.scale', '1.conv1.weight', '1.conv1.scale']);
  });

  it('a name in a table has the number of its layer and its end in parts that stay', () => {
    const parts = (name: string) => [...pathName(name).querySelectorAll('.gl-pathend > span')].map(part => part.textContent);
    expect(parts('blocks.layers.0.attention.key.weight')).toEqual(['0.', 'attention.', 'key.weight']);
    expect(parts('fc1.weight')).toEqual(['fc1.weight']);
    expect(parts(`layers.${'n'.repeat(80)}.bias`)).toEqual([`layers.${'n'.repeat(80)}.`, 'bias']);
    expect(pathName('a.0.b.c.d').textContent).toBe('a.0.b.c.d');
  });

  it('the letter of a last word is as many as tell it from those beside it', () => {
    const all = ['stem.weight', 'stem.scale', 'stem.shift', 'blocks.0.conv1.scale', 'blocks.0.conv1.shift'];
    const shown = shortNames(all, 58, '10px x');
    expect(new Set(shown).size).toBe(all.length);
    expect(shown.slice(1, 3)).toEqual(['stem.sc', 'stem.sh']);
  });

  it('a long name keeps its last word as a letter', () => {
    expect(fitName('fc1.weight', 200, '10px x')).toBe('fc1.weight');
    expect(fitName('encoder.attention.query.weight', 60, '10px x')).toBe('…query.w');
    expect(fitName('x'.repeat(5000), 60, '10px x').length).toBeLessThan(15);
  });

  it('two thousand parameters are drawn as 200 rows and the selected ones', () => {
    const rows = Array.from({ length: 2000 }, (_, i) => `w${i}`);
    const shown = visibleRows(rows, new Set(['w1999']));
    expect(shown.length).toBe(201);
    expect(shown.at(-1)).toBe('w1999');
  });

  it('an update ratio is good between 10^-3.5 and 10^-2.3', () => {
    expect([1e-3, 3e-4, 6e-3, NaN].map(outOfBand)).toEqual([false, true, true, true]);
  });

  it('a page is dark by its colour, not by the name of its theme', () => {
    expect([isDark('rgb(33, 33, 33)'), isDark('#fff'), isDark('rgba(0, 0, 0, 0)'), isDark('rgb(255, 255, 255)')]).toEqual([
      true,
      false,
      false,
      false
    ]);
  });
});
