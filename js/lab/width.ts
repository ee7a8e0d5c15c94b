import { SplitPanel, type Widget } from '@lumino/widgets';

const READABLE_PX = 440;
// On a small window the notebook keeps more than half.
const LARGEST_SHARE = 0.45;

/** Widens the column of the split panel that holds this widget until the inspector is readable; never narrows it. */
export function makeReadable(widget: Widget): void {
  let column = widget;
  while (column.parent && !(column.parent instanceof SplitPanel)) column = column.parent;
  const split = column.parent;
  if (!(split instanceof SplitPanel) || split.orientation !== 'horizontal') return;
  const visible = split.widgets.filter(w => w.isVisible);
  const widths = split.widgets.map(w => (w.isVisible ? w.node.offsetWidth : 0));
  const total = widths.reduce((sum, w) => sum + w, 0);
  const at = split.widgets.indexOf(column);
  const extra = Math.min(READABLE_PX, LARGEST_SHARE * total) - widths[at];
  if (extra <= 0 || visible.length < 2) return;
  const widest = widths.reduce((best, w, i) => (i !== at && (best === at || w > widths[best]) ? i : best), at);
  widths[at] += extra;
  widths[widest] -= extra;
  split.setRelativeSizes(widths);
}
