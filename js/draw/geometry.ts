/** The sizes of a graph's parts, and a group of them as layout and routing share it. */

export const NODE_WIDTH = 244;
export const NODE_HEIGHT = 40;
export const CHIP_WIDTH = 116;
export const CHIP_HEIGHT = 20;
/** From the left edge of a node to the left edge of its chips. */
export const CHIP_OFFSET = 268;
/** The line of a box with its name and times, and under it the room for an arrow. */
export const HEADER = 26;
export const ARROW_ROOM = 6;
/** Between chips of one node. */
export const STACK_GAP = 4;

/** The way of one edge inside one group, in the group's own coordinates. */
export interface Bend {
  points: [number, number][];
}

/** One node or one box as it stands in its group; x counts from the spine of the group's first lane. */
export interface Item {
  node: number;
  box: number;
  lane: number;
  side: boolean;
  wide: boolean;
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** The inside of one box, or of the whole picture. */
export interface Group {
  items: Item[];
  /** Edges that start or end in this group, by their number. */
  links: Link[];
  lanes: number;
  height: number;
  left: number;
  right: number;
  /** The x of every lane's spine. */
  spines: number[];
  /** How far the items of every lane reach to the left of its spine. */
  lefts: number[];
  /** Per edge: how it runs inside this group. */
  bends: Map<number, Bend>;
}

/** An edge inside a group; -1 stands for the top or bottom border of the box. */
export interface Link {
  edge: number;
  from: number;
  to: number;
}

/** Where on an item an edge may start or end; a box has the place where the edge crosses its border. */
export type Port = (edge: number, item: Item, end: 'from' | 'to') => number | null;

/** What is to be laid out; a node's number is its place in the list, and the list is in tape order. */
export interface LayoutNode {
  /** The innermost box around it; -1 for none. */
  box: number;
  /** A chip: it stands beside this node. */
  beside?: number;
  /** A small node in the column of the chips, for what no gradient passes. */
  side?: boolean;
  /** In pixels, where it is not as high as others. */
  height?: number;
}

export interface LayoutBox {
  /** The box around this one; -1 for none. */
  parent: number;
  /** The height of what stands above its nodes; a line where nothing is said. */
  header?: number;
}

export interface LayoutEdge {
  from: number;
  to: number;
}

export interface LayoutInput {
  nodes: readonly LayoutNode[];
  boxes: readonly LayoutBox[];
  edges: readonly LayoutEdge[];
}

export interface Placed {
  id: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PlacedEdge extends LayoutEdge {
  points: [number, number][];
  /** From a chip straight into the node it stands beside. */
  chip: boolean;
}

export interface Layout {
  nodes: Placed[];
  boxes: Placed[];
  chips: Placed[];
  edges: PlacedEdge[];
  width: number;
  height: number;
}

/** The boxes around a node, innermost first, ending with -1 for the whole picture. */
export function chain(boxes: readonly LayoutBox[], box: number): number[] {
  const out: number[] = [];
  for (let b = box; b >= 0; b = (boxes[b] as LayoutBox).parent) out.push(b);
  out.push(-1);
  return out;
}
