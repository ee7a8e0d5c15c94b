/** How the edges of one group run: straight down a lane, around one corner, or through a gutter between the lanes. */

import { CHIP_OFFSET, CHIP_WIDTH, NODE_WIDTH, type Group, type Item, type Link, type Port } from './geometry';

const TRACK = 8;
/** Between a lane's nodes and what stands beside them: room for two tracks. */
const CORRIDOR = [NODE_WIDTH / 2 + 8, NODE_WIDTH / 2 + 16] as const;
/** And to the right of what stands beside them. */
const FAR = [CHIP_OFFSET + CHIP_WIDTH - NODE_WIDTH / 2 + 6, CHIP_OFFSET + CHIP_WIDTH - NODE_WIDTH / 2 + 12] as const;
const LANE_GAP = 24;
/** Half the gap under and over every item: edges run sideways there. */
const TURN = 5;
/** From the frame of a box to an edge that runs along it. */
const INSET = 10;
const SIDE_SPINE = CHIP_OFFSET + CHIP_WIDTH / 2 - NODE_WIDTH / 2;
/** Where an edge leaves or enters a node sideways, from its spine. */
const LEAVE = 98;
const SIDE_LEAVE = 40;
const ENTER = 60;

type Way = 'straight' | 'early' | 'late' | 'gutter';

interface Plan extends Link {
  way: Way;
  gutter: number;
  track: number;
  top: number;
  bottom: number;
}

/** A column of a group: lane n is column 2n, the chips beside it are column 2n + 1. Tops and bottoms in turn, from above. */
type Column = Float64Array;

/** Whether nothing stands in a column between two heights; the intervals are in order. */
function free(column: Column, top: number, bottom: number): boolean {
  let low = 0;
  let high = column.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((column[2 * middle + 1] as number) <= top) low = middle + 1;
    else high = middle;
  }
  return 2 * low >= column.length || (column[2 * low] as number) >= bottom;
}

/** Columns of what stands in them, each interval under the one before. */
function sorted(columns: [number, number][][]): Column[] {
  return columns.map(column => Float64Array.from(column.sort((a, b) => a[0] - b[0]).flat()));
}

function columnsOf(group: Group): Column[] {
  const columns: [number, number][][] = Array.from({ length: group.lanes * 2 }, () => []);
  for (const item of group.items) {
    if (!item.side) columns[item.lane * 2]?.push([item.top, item.bottom]);
    if (item.side || item.wide) columns[item.lane * 2 + 1]?.push([item.top, item.bottom]);
  }
  return sorted(columns);
}

/** Where boxes stand in each lane: they reach over the corridor between nodes and chips. */
function boxColumns(group: Group): Column[] {
  const columns: [number, number][][] = Array.from({ length: group.lanes }, () => []);
  for (const item of group.items) if (item.box >= 0) columns[item.lane]?.push([item.top, item.bottom]);
  return sorted(columns);
}

/** Route every link of a group, and give its lanes their x. */
export function routeGroup(group: Group, port: Port, fromChip: (edge: number) => boolean, toSide: (edge: number) => boolean): void {
  const columns = columnsOf(group);
  const boxes = boxColumns(group);
  const clear = (a: number, b: number, y: number) => {
    for (let c = Math.min(a, b) + 1; c < Math.max(a, b); c++) if (!free(columns[c] as Column, y - 1, y + 1)) return false;
    return true;
  };
  const columnOf = (item: Item, edge: number, from: boolean) =>
    item.lane * 2 + (item.side || (from && item.node >= 0 && fromChip(edge)) ? 1 : 0);
  const plans = group.links.map(link => planLink(group, link, columns, boxes, clear, columnOf));
  const tracks = assignTracks(plans, group.lanes);
  placeLanes(group, tracks);
  const arrivals = new Map<number, [number, number]>();
  const departures = new Map<number, [number, number]>();
  for (const plan of plans)
    group.bends.set(plan.edge, { points: trace(group, plan, tracks, port, columnOf, arrivals, departures, toSide) });
}

function way(plan: Plan, how: Way): Plan {
  plan.way = how;
  return plan;
}

function planLink(
  group: Group,
  link: Link,
  columns: Column[],
  boxes: Column[],
  clear: (a: number, b: number, y: number) => boolean,
  columnOf: (item: Item, edge: number, from: boolean) => number
): Plan {
  const from = group.items[link.from];
  const to = group.items[link.to];
  const top = from ? from.bottom : 0;
  const bottom = to ? to.top : group.height;
  const plan: Plan = { ...link, way: 'straight', gutter: 0, track: 0, top, bottom };
  const a = from ? columnOf(from, link.edge, true) : -1;
  const b = to ? columnOf(to, link.edge, false) : -1;
  if (a < 0 || b < 0 || a === b) {
    if (free(columns[Math.max(a, b)] as Column, top, bottom)) return plan;
  } else if (free(columns[b] as Column, top, bottom) && clear(a, b, top + TURN)) return way(plan, 'early');
  else if (free(columns[a] as Column, top, bottom) && clear(a, b, bottom - TURN)) return way(plan, 'late');
  plan.way = 'gutter';
  // Two that stand beside a lane are joined on the far side; the corridor is for edges out of the lane.
  if ((a % 2 === 1 || b % 2 === 1) && a >> 1 === b >> 1 && free(boxes[a >> 1] as Column, top, bottom)) {
    plan.gutter = (a === b ? 2 : 1) * group.lanes + 1 + (a >> 1);
    return plan;
  }
  const lane = Math.max(a, b) >> 1;
  const choices = [lane, lane + 1, Math.max(0, lane - 1)].filter(g => g <= group.lanes);
  const reach = (column: number, gutter: number, y: number) =>
    column < 0 || clear(column, gutter > column >> 1 ? gutter * 2 : gutter * 2 - 1, y);
  plan.gutter = choices.find(g => reach(a, g, top + TURN) && reach(b, g, bottom - TURN)) ?? lane;
  return plan;
}

/** Edges that share a gutter and a height run beside each other; gives the number of tracks of each gutter. */
function assignTracks(plans: Plan[], lanes: number): number[] {
  const ends: number[][] = Array.from({ length: 3 * lanes + 1 }, () => []);
  const inGutter = plans.filter(p => p.way === 'gutter').sort((p, q) => p.top - q.top || p.bottom - q.bottom);
  for (const plan of inGutter) {
    const used = ends[plan.gutter] as number[];
    let track = used.findIndex(end => end <= plan.top);
    if (track < 0) track = used.length;
    used[track] = plan.bottom;
    plan.track = track;
  }
  return ends.map(used => used.length);
}

function placeLanes(group: Group, tracks: readonly number[]): void {
  const lefts: number[] = Array.from({ length: group.lanes }, () => 0);
  const rights: number[] = Array.from({ length: group.lanes }, () => 0);
  for (const item of group.items) {
    lefts[item.lane] = Math.max(lefts[item.lane] as number, item.left);
    rights[item.lane] = Math.max(rights[item.lane] as number, item.right);
  }
  group.lefts = lefts;
  let x = 0;
  for (let lane = 0; lane < group.lanes; lane++) {
    if (lane > 0) x += (rights[lane - 1] as number) + LANE_GAP + (tracks[lane] as number) * TRACK + (lefts[lane] as number);
    group.spines.push(x);
  }
  const margin = (count: number) => (count > 0 ? count * TRACK + INSET : 0);
  group.left = (lefts[0] ?? 0) + margin(tracks[0] ?? 0);
  group.right = x + (rights.at(-1) ?? 0) + margin(tracks[group.lanes] ?? 0);
}

/** The x of a track: just left of the lane its gutter belongs to, right of the last lane, or in a lane's corridor. */
function trackX(group: Group, plan: Plan, tracks: readonly number[]): number {
  if (plan.gutter > group.lanes) {
    const lane = (plan.gutter - group.lanes - 1) % group.lanes;
    const far = plan.gutter > 2 * group.lanes;
    return (group.spines[lane] as number) + (far ? FAR : CORRIDOR)[plan.track % 2 ? 1 : 0];
  }
  if (plan.gutter < group.lanes) {
    return (group.spines[plan.gutter] as number) - (group.lefts[plan.gutter] as number) - TRACK * (plan.track + 1);
  }
  return group.right - INSET - TRACK * ((tracks[plan.gutter] as number) - 1 - plan.track);
}

/** Several edges on one side of a node stand apart. */
function spread(counts: Map<number, [number, number]>, item: number, right: boolean): number {
  const count = counts.get(item) ?? [0, 0];
  counts.set(item, count);
  const side = right ? 1 : 0;
  const n = count[side]++;
  return Math.min(n, 4) * 12;
}

function trace(
  group: Group,
  plan: Plan,
  tracks: readonly number[],
  port: Port,
  columnOf: (item: Item, edge: number, from: boolean) => number,
  arrivals: Map<number, [number, number]>,
  departures: Map<number, [number, number]>,
  toSide: (edge: number) => boolean
): [number, number][] {
  const from = group.items[plan.from];
  const to = group.items[plan.to];
  const spine = (item: Item, isFrom: boolean) =>
    (group.spines[item.lane] as number) + (columnOf(item, plan.edge, isFrom) % 2 ? SIDE_SPINE : 0);
  const fixed = (item: Item | undefined, end: 'from' | 'to') => {
    const at = item ? port(plan.edge, item, end) : null;
    return at === null || !item ? null : (group.spines[item.lane] as number) + at;
  };
  const aside = from && !to && toSide(plan.edge) && columnOf(from, plan.edge, true) % 2 === 0 ? LEAVE : 0;
  const a = from ? (fixed(from, 'from') ?? spine(from, true) + (plan.way === 'straight' ? aside : 0)) : null;
  const b = to ? (fixed(to, 'to') ?? spine(to, false)) : null;
  if (plan.way === 'straight') {
    if (a === null || b === null) {
      const x = (a ?? b) as number;
      return [
        [x, plan.top],
        [x, plan.bottom]
      ];
    }
    if (a === b)
      return [
        [a, plan.top],
        [b, plan.bottom]
      ];
    const y = plan.top + TURN;
    return [
      [a, plan.top],
      [a, y],
      [b, y],
      [b, plan.bottom]
    ];
  }
  const leave = (towards: number) => {
    if (!from || fixed(from, 'from') !== null) return a as number;
    const right = towards > (a as number);
    if (columnOf(from, plan.edge, true) % 2) return (a as number) + (right ? SIDE_LEAVE : -SIDE_LEAVE);
    return (a as number) + (right ? 1 : -1) * (LEAVE - spread(departures, plan.from, right));
  };
  const enter = (towards: number) => {
    if (!to || fixed(to, 'to') !== null) return b as number;
    const right = towards > (b as number);
    if (to.side) return right ? (b as number) + SIDE_LEAVE : (b as number);
    return (b as number) + (right ? 1 : -1) * (ENTER - spread(arrivals, plan.to, right));
  };
  if (plan.way === 'early') {
    const x = leave(b as number);
    const y = plan.top + TURN;
    return [
      [x, plan.top],
      [x, y],
      [b as number, y],
      [b as number, plan.bottom]
    ];
  }
  if (plan.way === 'late') {
    const x = enter(a as number);
    const y = plan.bottom - TURN;
    return [
      [a as number, plan.top],
      [a as number, y],
      [x, y],
      [x, plan.bottom]
    ];
  }
  const track = trackX(group, plan, tracks);
  const points: [number, number][] = [];
  if (from) {
    const x = leave(track);
    points.push([x, plan.top], [x, plan.top + TURN], [track, plan.top + TURN]);
  } else points.push([track, plan.top]);
  if (to) {
    const x = enter(track);
    points.push([track, plan.bottom - TURN], [x, plan.bottom - TURN], [x, plan.bottom]);
  } else points.push([track, plan.bottom]);
  return points;
}
