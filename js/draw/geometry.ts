/** The sizes of a graph's parts, and a group of them as layout and routing share it. */

export const NODE_WIDTH = 244;
export const NODE_HEIGHT = 40;
export const CHIP_WIDTH = 116;
export const CHIP_HEIGHT = 20;
/** From the left edge of a node to the left edge of its chips. */
export const CHIP_OFFSET = 268;
/** The line of a box with its name and times. */
export const HEADER = 20;

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
