import { describe, expect, it } from 'vitest';
import { measure, rowOf, stretch } from '../panels/operands';
import { Sketch } from '../gallery/sketch';
import { outOfBand } from '../panels/optimizer';
import { nameCell } from '../panels/pathname';
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

  it('two operands that stretch each other are marked, in words where there is room', () => {
    const s = new Sketch('both');
    const [a, b, c] = [s.leaf('a', 'input', [32]), s.leaf('b', 'parameter', [32, 1]), s.leaf('c', 'input', [32, 32])];
    s.op('sub', 'elementwise', [['leaf', a], ['leaf', b]], [32, 32]); // prettier-ignore
    s.op('add', 'elementwise', [['op', 0], ['leaf', a]], [32, 32]); // prettier-ignore
    s.op('mul', 'elementwise', [['op', 1], ['leaf', c]], [32, 32]); // prettier-ignore
    const inputs = (i: number, room: number) => rowOf(s.structure, i, measure(s.structure, room).look).querySelector('.gl-both');
    expect(inputs(0, 600)!.querySelectorAll('.gl-is-warning, .gl-ghost').length).toBe(3);
    expect(inputs(0, 600)!.textContent).toContain('both stretched');
    expect(inputs(0, 300)!.textContent).not.toContain('both stretched');
    expect(inputs(0, 300)!.getAttribute('title')).toContain('both stretched');
    expect([inputs(1, 600), inputs(2, 600)]).toEqual([null, null]);
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

  it('a name in a table stays whole until it is measured, and its count beside it', () => {
    const parts = (cell: HTMLElement) => [...cell.children].map(part => part.textContent);
    expect(parts(nameCell('layers.0.attention · 1,025 ops'))).toEqual(['layers.0.attention', '1,025 ops']);
    expect(parts(nameCell('fc1.weight'))).toEqual(['fc1.weight']);
    expect(parts(nameCell('layers.7–5', '53 ops'))).toEqual(['layers.7–5', '53 ops']);
  });

  it('names of a deep net differ at any width, have one ellipsis at most, and keep the number of their layer', () => {
    const ends = ['norm1.weight', 'norm1.bias', 'attention.key.weight', 'attention.query.weight', 'mlp.down.weight', 'mlp.down.bias'];
    const all = ['token', ...Array.from({ length: 12 }, (_, i) => ends.map(end => `layers.${i}.${end}`)).flat(), 'head.weight'];
    for (const width of [48, 60, 66, 84, 100, 140, 200]) {
      const shown = shortNames(all, width, '10px x');
      expect(new Set(shown).size).toBe(all.length);
      for (const name of shown) {
        expect(name.split('…').length).toBeLessThan(3);
        expect(name.length * 6).toBeLessThanOrEqual(width);
      }
      if (width >= 60 && width < 200) for (const name of shown.slice(1, -1)) expect(name).toMatch(/^\d+[.…]/);
    }
  });

  it('words that names begin with are left out of all of them or of none', () => {
    const all = Array.from({ length: 12 }, (_, i) => ['conv1', 'conv2'].map(conv => `blocks.${i}.${conv}.weight`)).flat();
    for (const width of [60, 80, 96, 120]) {
      const starts = shortNames(all, width, '10px x').map(name => name.startsWith('bl'));
      expect(new Set(starts).size).toBe(1);
    }
  });

  it('names of which two have one number and one end say where they begin', () => {
    const all = ['encoder', 'decoder'].flatMap(part => [0, 1].map(i => `${part}.layers.${i}.attention.query.weight`));
    expect(shortNames(all, 66, '10px x')).toEqual(['e.0…query.w', 'e.1…query.w', 'd.0…query.w', 'd.1…query.w'].map(x => x.slice(0, 11)));
    const long = ['A', 'B'].map(x => `${'n'.repeat(300)}${x}${'n'.repeat(300)}`);
    expect(shortNames(long, 60, '10px x')).toEqual(['…Annnnnnnn', '…Bnnnnnnnn']);
    expect(shortNames(['conv1.gelu', 'conv1.gelu', 'x'.repeat(40)], 60, '10px x').slice(0, 2)).toEqual(['conv1.gelu', 'conv1.gelu']);
  });

  it('the letter of a last word is as many as tell it from those beside it', () => {
    const all = ['stem.weight', 'stem.scale', 'stem.shift', 'blocks.0.conv1.scale', 'blocks.0.conv1.shift'];
    const shown = shortNames(all, 58, '10px x');
    expect(new Set(shown).size).toBe(all.length);
    expect(shown.slice(1, 3)).toEqual(['stem.sc', 'stem.sh']);
  });

  it('a module keeps its last word, and so does a word in no plain letters', () => {
    const all = ['model', 'layers.first', 'layers.\u{1f600}', `layers.${'n'.repeat(60)}`];
    expect(shortNames(all, 100, '10px x', false).slice(0, 3)).toEqual(['model', 'layers.first', 'layers.\u{1f600}']);
    expect(shortNames(all, 100, '10px x')[2]).toBe('layers.\u{1f600}');
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
