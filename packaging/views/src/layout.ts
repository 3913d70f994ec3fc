// Places the nodes of a graph: springs along links, repulsion between all nodes. The same graph gives the same places.

const TICKS = 200;
const SPRING = 90;
const REPULSION = 4000;
const GRAVITY = 0.03;
export interface Place {
  x: number;
  y: number;
}

/** Places for nodes 0 to `count`; node 0 is the centre. The frame is so many times wider than high. */
export function layout(count: number, edges: readonly (readonly [number, number, ...unknown[]])[], wider: number): Place[] {
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  const degree = new Float64Array(count);
  for (const [from, to] of edges) {
    degree[from]! += 1;
    degree[to]! += 1;
  }
  for (let node = 0; node < count; node++) {
    const angle = node * Math.PI * (3 - Math.sqrt(5)); // a sunflower: no two nodes in one place
    x[node] = 22 * Math.sqrt(node) * Math.cos(angle);
    y[node] = 22 * Math.sqrt(node) * Math.sin(angle);
  }
  const dx = new Float64Array(count);
  const dy = new Float64Array(count);
  for (let tick = 0; tick < TICKS; tick++) {
    const heat = (1 - tick / TICKS) ** 2;
    for (let one = 0; one < count; one++) {
      dx[one]! -= x[one]! * GRAVITY;
      dy[one]! -= y[one]! * GRAVITY;
      for (let other = one + 1; other < count; other++) {
        const [across, down] = [x[one]! - x[other]!, y[one]! - y[other]!];
        const push = REPULSION / Math.max(across * across + down * down, 30);
        const length = Math.sqrt(across * across + down * down) || 1;
        dx[one]! += (across / length) * push;
        dy[one]! += (down / length) * push;
        dx[other]! -= (across / length) * push;
        dy[other]! -= (down / length) * push;
      }
    }
    for (const [from, to] of edges) {
      const [across, down] = [x[to]! - x[from]!, y[to]! - y[from]!];
      const length = Math.sqrt(across * across + down * down) || 1;
      const pull = ((length - SPRING) / length) * (1 / Math.min(degree[from]!, degree[to]!)) * 0.5;
      dx[from]! += across * pull;
      dy[from]! += down * pull;
      dx[to]! -= across * pull;
      dy[to]! -= down * pull;
    }
    for (let node = 0; node < count; node++) {
      const step = Math.hypot(dx[node]!, dy[node]!) || 1;
      const most = Math.min(step, 4 + 40 * heat);
      x[node]! += (dx[node]! / step) * most * heat;
      y[node]! += (dy[node]! / step) * most * heat;
      dx[node] = dy[node] = 0;
    }
  }
  return Array.from(x, (across, node) => ({ x: wider * (across - x[0]!), y: y[node]! - y[0]! }));
}
