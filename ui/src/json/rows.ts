// Which values of a tree are on the screen: those whose holders are open.

export interface Shape {
  count: number;
  last: Int32Array;
  parent: Int32Array;
}

/** The nodes to show, in order. `isOpen` is asked for each that holds something. */
export function visible(shape: Shape, isOpen: (node: number) => boolean): Int32Array {
  const out = new Int32Array(shape.count);
  let length = 0;
  for (let node = 0; node < shape.count; ) {
    out[length++] = node;
    node = shape.last[node] > node && !isOpen(node) ? shape.last[node] + 1 : node + 1;
  }
  return out.slice(0, length);
}

export function depths(shape: Shape): Uint16Array {
  const out = new Uint16Array(shape.count);
  for (let node = 1; node < shape.count; node += 1) out[node] = out[shape.parent[node]] + 1;
  return out;
}

/** Where a node stands among the visible ones; they are in order, so it is looked up by halves. */
export function rowOf(rows: Int32Array, node: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (rows[mid] < node) low = mid + 1;
    else high = mid;
  }
  return rows[low] === node ? low : -1;
}
