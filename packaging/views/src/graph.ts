// The links around a note: as a picture to move about in, and as a list.
import type { Data } from "./bridge";
import { layout, type Place } from "./layout";
import { button, count, fileName, firstLines, h, INLINE_HEIGHT, openInApp, shortened, View } from "./ui";

type Kind = "note" | "missing" | "file";
type Edge = [from: number, to: number, kind?: "embed"];

interface Point {
  clientX: number;
  clientY: number;
}

interface Node extends Place {
  path: string;
  kind: Kind;
  linksIn: number;
  linksOut: number;
  radius: number;
  neighbours: Set<number>;
  element: SVGGElement;
}

const SVG = "http://www.w3.org/2000/svg";
/** Most characters of a label, and the pixels that one takes: wide ones (Chinese, Japanese, Korean) and others. */
const LABEL_CHARACTERS = 28;
const [WIDE, NARROW, LABEL_HEIGHT] = [12, 7, 16];
/** Pixels that a pointer moves before it drags. */
const DRAGGED = 4;
const KINDS: Record<Kind, string> = { note: "Note", missing: "Not created", file: "File" };

function s<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

class Graph extends View {
  private data: Data = {};
  private nodes: Node[] = [];
  private byLinks: number[] = [];
  private edges: { edge: Edge; element: SVGPathElement }[] = [];
  private history: Data[] = [];
  private selected = -1;
  private isList = false;
  /** All that a page which stands alone has inside, of which it shows as many links away as are chosen. */
  private whole: Data = {};
  private filter = "";
  private zoom = { x: 0, y: 0, scale: 1 };
  private pointers = new Map<number, Point>();
  private readonly world = s("g", {});
  private readonly picture = s("svg", { class: "graph", role: "group", "aria-label": "Link graph" });
  private readonly panel = h("section", { class: "panel", "aria-live": "polite" });

  show(data: Data): void {
    this.whole = data;
    this.lay(this.bridge.isAlone ? within(data, data.depth) : data);
  }

  private lay(data: Data): void {
    this.data = data;
    this.selected = -1;
    const edges: Edge[] = data.edges;
    const shape = this.isInline ? this.root.clientWidth / 300 : this.root.clientWidth / 560;
    const places = layout(data.nodes.length, edges, Math.min(1.7, Math.max(0.7, shape)));
    this.nodes = data.nodes.map(([path, kind, linksIn, linksOut]: [string, Kind, number, number], index: number) => ({
      ...places[index]!,
      path,
      kind,
      linksIn,
      linksOut,
      radius: 6 + Math.min(14, 2 * Math.sqrt(linksIn)),
      neighbours: new Set<number>(),
    }));
    for (const [from, to] of edges) {
      if (from === to) continue;
      this.nodes[from]!.neighbours.add(to);
      this.nodes[to]!.neighbours.add(from);
    }
    this.render();
  }

  private render(): void {
    const { data } = this;
    const links = (data.edges as Edge[]).filter(([from, to]) => from !== to);
    const facts = [count(this.nodes.length, "file"), count(links.length, "link")];
    if (data.cut) facts.push(`${data.cut} more are not shown`);
    const head = h(
      "header",
      {},
      h("h1", {}, `Links around ${fileName(data.center)}`),
      h("p", { class: "meta" }, facts.join(" · ")),
    );
    const bar = h(
      "div",
      { class: "row" },
      button(this.isList ? "Picture" : "List", () => this.turn(), { "aria-pressed": String(this.isList) }),
      this.history.length > 0 && button("Back", () => this.back()),
      this.depthChoice(),
      this.filterField(),
    );
    this.body.replaceChildren(head, bar);
    if (this.isList) this.drawList();
    else {
      bar.append(
        button("+", () => this.zoomBy(1.25), { "aria-label": "Zoom in" }),
        button("−", () => this.zoomBy(0.8), { "aria-label": "Zoom out" }),
        button("Fit", () => this.fit()),
      );
      this.drawPicture();
    }
    this.panel.replaceChildren();
    this.body.append(this.panel);
    if (this.filter) this.sift();
  }

  private depthChoice(): HTMLElement | false {
    if (!this.bridge.canCall && !this.bridge.isAlone) return false;
    const select = h("select");
    for (const depth of [1, 2, 3]) select.append(h("option", { value: depth, selected: depth === this.data.depth }, String(depth)));
    select.addEventListener("change", () => {
      const depth = Number(select.value);
      if (this.bridge.isAlone) {
        this.lay(within(this.whole, depth));
        this.body.querySelector("select")?.focus();
      } else
        void this.attempt(async () => {
          this.show(await this.bridge.call("obsidian_show_graph", { note: this.data.center, depth, vault: this.data.vault }));
          this.body.querySelector("select")?.focus();
        });
    });
    return h("label", {}, "Links away ", select);
  }

  private filterField(): HTMLElement | false {
    if (this.isInline) return false;
    const field = h("input", { type: "search", value: this.filter });
    field.addEventListener("input", () => {
      this.filter = field.value;
      this.sift();
      const hits = this.nodes.filter((_, index) => this.isSifted(index)).length;
      this.say(this.filter ? `${hits} of ${count(this.nodes.length, "file")}.` : "");
    });
    return h("label", {}, "Filter ", field);
  }

  /** Whether a node has what the filter says; the centre is always there. */
  private isSifted(index: number): boolean {
    return index === 0 || this.nodes[index]!.path.toLowerCase().includes(this.filter.trim().toLowerCase());
  }

  /** Hide what the filter leaves out: in the picture nodes with their links, in the list files. */
  private sift(): void {
    this.nodes.forEach((node, index) => node.element?.classList.toggle("sifted", !this.isSifted(index)));
    for (const { edge, element } of this.edges) element.classList.toggle("sifted", !(this.isSifted(edge[0]) && this.isSifted(edge[1])));
    for (const item of [...this.body.querySelectorAll<HTMLElement>(".tree li")].reverse()) {
      const own = Number(item.querySelector<HTMLElement>(":scope > [data-node]")?.dataset.node);
      item.hidden = !this.isSifted(own) && !item.querySelector("li:not([hidden])");
    }
  }

  private turn(): void {
    this.isList = !this.isList;
    this.render();
    this.body.querySelector<HTMLElement>("[aria-pressed]")!.focus();
  }

  // --- the picture

  private drawPicture(): void {
    const lines = s("g", { class: "edges" });
    this.edges = (this.data.edges as Edge[])
      .filter(([from, to]) => from !== to)
      .map((edge) => ({ edge, element: s("path", { class: `edge ${edge[2] ?? ""}` }) }));
    lines.append(...this.edges.map(({ element }) => element));
    const byLinks = this.nodes.map((_, index) => index).sort((a, b) => this.links(b) - this.links(a));
    this.byLinks = byLinks;
    for (const index of byLinks) this.nodes[index]!.element = this.drawNode(index);
    this.world.replaceChildren(lines, ...byLinks.map((index) => this.nodes[index]!.element));
    this.picture.replaceChildren(this.world);
    this.picture.onpointerdown = (event) => this.point(event);
    this.picture.onwheel = (event) => {
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 400), event);
    };
    this.picture.onkeydown = (event) => this.press(event);
    const kinds = (Object.keys(KINDS) as Kind[]).filter((kind) => this.nodes.some((node) => node.kind === kind));
    const legend = h(
      "p",
      { class: "legend meta" },
      ...kinds.map((kind) => h("span", {}, this.sample(kind), ` ${KINDS[kind]}`)),
      this.edges.length > 0 && h("span", {}, "Larger: more links lead there"),
      this.edges.some(({ edge }) => edge[2]) && h("span", {}, "Dashed line: embed"),
    );
    this.picture.style.height = "";
    this.body.append(this.picture, legend);
    const over = this.isInline ? this.root.offsetHeight - INLINE_HEIGHT : 0;
    if (over > 0) this.picture.style.height = `${this.picture.clientHeight - over}px`;
    this.nodes.forEach((node) => this.put(node));
    this.edges.forEach(({ edge, element }) => this.putEdge(edge, element));
    this.fit();
  }

  private links(index: number): number {
    return index === 0 ? Infinity : this.nodes[index]!.linksIn + this.nodes[index]!.linksOut;
  }

  private sample(kind: Kind): Element {
    const image = s("svg", { class: `sample ${kind}`, viewBox: "-8 -8 16 16", "aria-hidden": "true" });
    image.append(shape(kind, 6));
    return image;
  }

  private drawNode(index: number): SVGGElement {
    const node = this.nodes[index]!;
    const name = fileName(node.path);
    const shown = shortened(name, LABEL_CHARACTERS);
    const said = `${shown}, ${KINDS[node.kind].toLowerCase()}, ${count(node.linksIn, "link")} in, ${node.linksOut} out`;
    const element = s("g", {
      class: `node ${node.kind}${index === 0 ? " center" : ""}`,
      tabindex: 0,
      role: "button",
      "aria-label": said,
      "data-node": index,
    });
    const label = s("text", { y: node.radius, dy: "1.1em" });
    label.textContent = shown;
    element.append(shape(node.kind, node.radius), label);
    if (shown !== name) element.append(Object.assign(s("title", {}), { textContent: name }));
    element.ondblclick = () => void this.center(index);
    return element;
  }

  private put(node: Node): void {
    node.element.setAttribute("transform", `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`);
  }

  private putEdge([from, to]: Edge, element: SVGPathElement): void {
    const [a, b] = [this.nodes[from]!, this.nodes[to]!];
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
    const [x, y] = [b.x - ux * (b.radius + 2), b.y - uy * (b.radius + 2)];
    const wing = (side: number) => `L${(x - ux * 6 + uy * side).toFixed(1)} ${(y - uy * 6 - ux * side).toFixed(1)}`;
    const tip = `${x.toFixed(1)} ${y.toFixed(1)}`;
    element.setAttribute("d", `M${a.x.toFixed(1)} ${a.y.toFixed(1)}L${tip}${wing(3)}M${tip}${wing(-3)}`);
  }

  /** A pointer goes down: one drags a node or the picture, two zoom it. */
  private point(down: PointerEvent): void {
    const { pointers } = this;
    const target = pointers.size ? null : (down.target as Element).closest<SVGGElement>("[data-node]");
    const node = this.nodes[Number(target?.dataset.node)];
    const touched = this.edges.filter(({ edge }) => node && (this.nodes[edge[0]] === node || this.nodes[edge[1]] === node));
    let isClick = !pointers.size;
    pointers.set(down.pointerId, down);
    (node?.element ?? this.picture).setPointerCapture(down.pointerId);
    this.picture.onpointermove = (move) => {
      const before = pointers.get(move.pointerId);
      if (!before) return;
      isClick &&= pointers.size === 1 && Math.hypot(move.clientX - down.clientX, move.clientY - down.clientY) <= DRAGGED;
      if (isClick) return;
      const [across, along] = [move.clientX - before.clientX, move.clientY - before.clientY];
      const other = [...pointers].find(([id]) => id !== move.pointerId)?.[1];
      pointers.set(move.pointerId, move);
      if (other) {
        const distance = (point: Point) => Math.hypot(point.clientX - other.clientX, point.clientY - other.clientY) || 1;
        const middle = { clientX: (move.clientX + other.clientX) / 2, clientY: (move.clientY + other.clientY) / 2 };
        this.moveBy(across / 2, along / 2);
        this.zoomBy(distance(move) / distance(before), middle);
      } else if (node) {
        node.x += across / this.zoom.scale;
        node.y += along / this.zoom.scale;
        this.put(node);
        for (const { edge, element } of touched) this.putEdge(edge, element);
      } else this.moveBy(across, along);
    };
    this.picture.onpointerup = this.picture.onpointercancel = (up) => {
      pointers.delete(up.pointerId);
      if (!pointers.size) this.picture.onpointermove = null;
      this.label();
      if (isClick && node && up.type === "pointerup") this.select(this.nodes.indexOf(node));
    };
  }

  private moveBy(across: number, down: number): void {
    this.zoom.x += across;
    this.zoom.y += down;
    this.transform();
  }

  private zoomBy(factor: number, at?: Point): void {
    const box = this.picture.getBoundingClientRect();
    const x = at ? at.clientX - box.left : box.width / 2;
    const y = at ? at.clientY - box.top : box.height / 2;
    const scale = Math.min(5, Math.max(0.15, this.zoom.scale * factor));
    const grown = scale / this.zoom.scale;
    this.zoom = { x: x - (x - this.zoom.x) * grown, y: y - (y - this.zoom.y) * grown, scale };
    this.transform();
    this.label();
  }

  private fit(): void {
    const { width, height } = this.picture.getBoundingClientRect();
    const [xs, ys] = [this.nodes.map((node) => node.x), this.nodes.map((node) => node.y)];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const margin = Math.min(this.nodes.length > 30 ? 40 : 100, width / 4);
    const scale = Math.min(1.6, (width - 2 * margin) / (right - left || 1), (height - 80) / (bottom - top || 1));
    this.zoom = { x: width / 2 - ((left + right) / 2) * scale, y: height / 2 - 8 - ((top + bottom) / 2) * scale, scale };
    this.transform();
    this.label();
  }

  private transform(): void {
    const { x, y, scale } = this.zoom;
    this.world.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale.toFixed(3)})`);
  }

  /** Show the names of the most linked nodes that leave each other room; all are of one size however large the picture. */
  private label(): void {
    const { scale } = this.zoom;
    this.world.style.setProperty("--pixel", String(1 / scale));
    const taken = this.nodes.map(({ x, y, radius }) => [x * scale, y * scale, radius * scale, radius * scale] as const);
    for (const index of this.byLinks) {
      const { x, y, radius, path, element } = this.nodes[index]!;
      const name = [...shortened(fileName(path), LABEL_CHARACTERS)];
      const half = name.reduce((sum, sign) => sum + (sign > "\u2e7f" ? WIDE : NARROW), 0) / 2;
      const [left, top] = [x * scale, (y + radius) * scale + LABEL_HEIGHT / 2 + 1];
      const isFree = taken.every(
        ([otherX, otherY, across, down]) => Math.abs(left - otherX) > half + across || Math.abs(top - otherY) > LABEL_HEIGHT / 2 + down,
      );
      element.classList.toggle("labelled", isFree || index === 0);
      if (isFree) taken.push([left, top, half, LABEL_HEIGHT / 2]);
    }
  }

  private press(event: KeyboardEvent): void {
    const focused = (event.target as Element).closest<SVGGElement>("[data-node]");
    const index = focused ? Number(focused.dataset.node) : -1;
    const direction = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (event.key === "+" || event.key === "=") this.zoomBy(1.25);
    else if (event.key === "-") this.zoomBy(0.8);
    else if (index >= 0 && (event.key === "Enter" || event.key === " ")) {
      if (index === this.selected) void this.center(index);
      else this.select(index);
    } else if (index >= 0 && direction) this.walk(index, direction[0]!, direction[1]!);
    else return;
    event.preventDefault();
  }

  /** Go along the link that leads most in a direction. */
  private walk(index: number, right: number, down: number): void {
    const here = this.nodes[index]!;
    let [best, most] = [-1, 0];
    for (const other of here.neighbours) {
      const there = this.nodes[other]!;
      const length = Math.hypot(there.x - here.x, there.y - here.y) || 1;
      const along = ((there.x - here.x) * right + (there.y - here.y) * down) / length;
      if (along > most) [best, most] = [other, along];
    }
    if (best >= 0) this.nodes[best]!.element.focus();
  }

  // --- the list

  private drawList(): void {
    const seen = new Set([0]);
    let ring = [0];
    const found = new Map<number, number[]>();
    while (ring.length) {
      const following: number[] = [];
      for (const index of ring) {
        const below = [...this.nodes[index]!.neighbours].filter((other) => !seen.has(other));
        below.forEach((other) => seen.add(other));
        found.set(index, below);
        following.push(...below);
      }
      ring = following;
    }
    const item = (index: number): HTMLElement => {
      const node = this.nodes[index]!;
      const name = button(fileName(node.path), () => this.select(index), { class: "plain", "data-node": index });
      const facts = h("span", { class: "meta" }, `${KINDS[node.kind]}, ${node.linksIn} in, ${node.linksOut} out`);
      const below = found.get(index) ?? [];
      return h("li", {}, name, facts, below.length > 0 && h("ul", {}, ...below.map(item)));
    };
    const list = h("ul", { class: "tree" });
    this.body.append(list);
    const first = item(0);
    const nested = [...(first.querySelector("ul")?.children ?? [])];
    const inner = first.querySelector("ul");
    inner?.replaceChildren();
    list.append(first);
    if (inner) this.reveal(inner, nested);
  }

  // --- one node

  private select(index: number): void {
    this.selected = index;
    const node = this.nodes[index]!;
    this.nodes.forEach((each, place) => each.element?.classList.toggle("selected", place === index));
    const text = h("p", { class: "lines" });
    const title = h("h2", {}, node.path);
    const outgoing = (this.data.edges as Edge[]).filter(([from, to]) => from === index && to !== index).map(([, to]) => to);
    const incoming = (this.data.edges as Edge[]).filter(([from, to]) => to === index && from !== index).map(([from]) => from);
    this.panel.replaceChildren(title, text, this.linked("Links to", outgoing), this.linked("Linked from", incoming));
    const canCenter = index !== 0 && this.bridge.canCall && node.kind !== "missing";
    if (this.bridge.isAlone && node.kind !== "missing") title.after(openInApp(this.data.vault, node.path));
    if (canCenter) title.after(button("Show links around it", () => void this.center(index)));
    if (node.kind === "missing") text.textContent = "There is no file of this name yet.";
    else if (this.data.previews?.[node.path]) text.textContent = firstLines(this.data.previews[node.path]);
    else if (node.kind === "note" && this.bridge.canCall) void this.preview(node, text);
    else text.remove();
  }

  private linked(title: string, others: number[]): HTMLElement | string {
    if (!others.length) return "";
    const go = (other: number) => () => this.select(other);
    const buttons = [...new Set(others)].map((other) =>
      button(fileName(this.nodes[other]!.path), go(other), { class: "plain" }),
    );
    return h("div", {}, h("h3", {}, title), h("div", { class: "row links" }, ...buttons));
  }

  private async preview(node: Node, text: HTMLElement): Promise<void> {
    try {
      const page = await this.bridge.call("obsidian_note_page", { path: node.path, vault: this.data.vault });
      text.textContent = firstLines(page.markdown);
    } catch (error) {
      text.textContent = (error as Error).message;
    }
  }

  private async center(index: number): Promise<void> {
    const node = this.nodes[index]!;
    if (!this.bridge.canCall || index === 0 || node.kind === "missing") return;
    await this.attempt(async () => {
      const given = { note: node.path, depth: this.data.depth, vault: this.data.vault };
      const data = await this.bridge.call("obsidian_show_graph", given);
      this.history.push(this.data);
      this.show(data);
      this.say(`Now around ${fileName(node.path)}.`);
    });
  }

  private back(): void {
    const data = this.history.pop();
    if (data) this.show(data);
  }
}

/** The part of a graph that is so many links away from its centre. Nodes come by distance, so that those left out are last. */
function within(data: Data, depth: number): Data {
  const edges = data.edges as Edge[];
  const away = new Map([[0, 0]]);
  for (const index of away.keys()) {
    if (away.get(index) === depth) continue;
    for (const [from, to] of edges) {
      const other = from === index ? to : to === index ? from : index;
      if (!away.has(other)) away.set(other, away.get(index)! + 1);
    }
  }
  const kept = (data.nodes as unknown[]).map((_, index) => index).filter((index) => away.has(index));
  const place = new Map(kept.map((index, number) => [index, number]));
  return {
    ...data,
    depth,
    nodes: kept.map((index) => data.nodes[index]),
    edges: edges.filter(([from, to]) => place.has(from) && place.has(to)).map(([from, to, kind]) => [place.get(from), place.get(to), kind]),
    cut: kept.length === data.nodes.length ? data.cut : 0,
  };
}

function shape(kind: Kind, radius: number): SVGElement {
  if (kind !== "file") return s("circle", { r: radius });
  return s("rect", { x: -radius, y: -radius, width: 2 * radius, height: 2 * radius, rx: 2 });
}

new Graph("graph", "obsidian_show_graph").start();
