/** Colour scales; the sequential one reads in grey and for colour-blind eyes. */

type Rgb = readonly [number, number, number];

/** Cividis (Nuñez, Anderton and Renslow 2018, doi:10.1371/journal.pone.0199239), ten stops. */
const CIVIDIS = ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55', '#fee838'];
const SIGNED_LIGHT = ['#0665a8', '#7fb6dd', '#f4f4f4', '#f7bd7c', '#d9720b'];
const SIGNED_DARK = ['#3fa7ef', '#1f5f91', '#2c2c2c', '#9a5a12', '#ffa23a'];

function rgb(hex: string): Rgb {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** 256 colours along the stops, each packed as canvas pixels are: alpha, blue, green, red. */
function table(stops: readonly string[], from: number): Uint32Array {
  const colours = stops.map(rgb);
  const out = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const t = (from + (1 - from) * (i / 255)) * (colours.length - 1);
    const k = Math.min(colours.length - 2, Math.floor(t));
    const a = colours[k] as Rgb;
    const b = colours[k + 1] as Rgb;
    const mix = (c: 0 | 1 | 2) => Math.round(a[c] + (b[c] - a[c]) * (t - k));
    out[i] = ((255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
  }
  return out;
}

/** Small to large; on a dark page the darkest tenth is left out, so that the smallest still shows. */
export function sequential(dark: boolean): Uint32Array {
  return table(CIVIDIS, dark ? 0.1 : 0);
}

/** Below to above the middle: blue, neutral, orange. */
export function diverging(dark: boolean): Uint32Array {
  return table(dark ? SIGNED_DARK : SIGNED_LIGHT, 0);
}

/** A packed colour as CSS writes it. */
export function css(packed: number): string {
  return `rgb(${packed & 255} ${(packed >> 8) & 255} ${(packed >> 16) & 255})`;
}

/** Pack a CSS `#rrggbb` colour like the tables above. */
export function pack(hex: string): number {
  const [r, g, b] = rgb(hex);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
