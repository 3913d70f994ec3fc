// The result of a query: a table, cards, a list or a board, one page of it at a time.
import type { Data } from "./bridge";
import { button, count, fileName, firstLines, h, openInApp, plainLinks, View, wide } from "./ui";

type Cell = [type: string, value: any, path?: string | null] | null;
type Layout = "table" | "cards" | "list" | "board";

interface Column {
  id: string;
  label: string;
}

interface Row {
  cells: Cell[];
  path?: string;
  line?: number;
  text?: string;
  done?: boolean;
}

const LAYOUTS: Layout[] = ["table", "cards", "list", "board"];
/** By column of a board of tasks: where a task can be moved, and the argument of the tool that moves it. */
const PRIORITIES = ["highest", "high", "medium", "none", "low", "lowest"];
const STATUSES: Record<string, string> = {
  todo: "todo",
  "in progress": "in_progress",
  "on hold": "on_hold",
  done: "done",
  cancelled: "cancelled",
};

class Query extends View {
  private data: Data = {};
  private layout: Layout = "table";
  private made: number[] = [];
  /** In a page that stands outside a chat: what rows must contain, and the column that they are sorted by. */
  private filter = "";
  private sortedBy = "";
  /** In such a page: the data of each view of the base, by its name. */
  private tabs: Record<string, Data> = {};
  private readonly panel = h("section", { class: "panel", "aria-live": "polite" });

  show(data: Data): void {
    this.data = data;
    if (data.tabs) this.tabs = { ...data.tabs, [data.shown_view]: data };
    this.layout = LAYOUTS.includes(data.layout) ? data.layout : "table";
    this.render();
  }

  private get columns(): Column[] {
    return this.data.columns;
  }

  private get rows(): Row[] {
    return this.data.rows;
  }

  /** The numbers of the rows to show, in their order: all of them, but in a page that stands alone. */
  private get order(): number[] {
    const words = this.filter.toLowerCase();
    const numbers = this.rows.map((_, number) => number).filter((number) => !words || this.words(this.rows[number]!).toLowerCase().includes(words));
    if (!this.sortedBy) return numbers;
    const isDescending = this.sortedBy.startsWith("-");
    const column = this.columns.findIndex(({ id }) => id === this.sortedBy.slice(isDescending ? 1 : 0));
    const compare = (a: number, b: number) => compareCells(this.rows[a]!.cells[column] ?? null, this.rows[b]!.cells[column] ?? null);
    return numbers.sort((a, b) => (isDescending ? compare(b, a) : compare(a, b)));
  }

  private words(row: Row): string {
    return row.cells.map(cellText).join("\n");
  }

  private render(): void {
    const { data } = this;
    const first = data.offset + 1;
    const range = this.rows.length ? `${first}–${data.offset + this.rows.length} of ${data.total}` : "Nothing found";
    const facts = data.note ? `${range} · ${data.note}` : range;
    const base = /\.base$/i.test(data.query.query ?? "") ? fileName(data.query.query).replace(/\.base$/i, "") : "";
    const heading = data.tasks ? "Tasks" : [base, data.query.view].filter(Boolean).join(": ") || "Query";
    const head = h("header", {}, h("h1", {}, heading), h("p", { class: "meta" }, facts));
    const place = h("div", { class: `result ${this.layout}` });
    this.panel.replaceChildren();
    this.body.replaceChildren(head, this.viewTabs(), this.controls(), place, this.paging(), this.panel);
    this.drawResult();
  }

  /** The views of a base: a page that stands alone has them inside, else the server is asked. */
  private viewTabs(): HTMLElement {
    const names: string[] = this.data.views ?? [];
    const here: string = this.data.shown_view ?? "";
    const row = h("nav", { class: "row tabs", "aria-label": "Views" });
    if (!names.length || !(this.bridge.canCall || this.bridge.isAlone)) return row;
    for (const name of names) {
      const open = () => (this.bridge.isAlone ? this.openTab(name) : this.ask({ view: name, sort: "", group: "", offset: 0, layout: "" }));
      row.append(button(name, open, { "aria-current": name === here && "true" }));
    }
    return row;
  }

  private openTab(name: string): void {
    this.filter = this.sortedBy = "";
    this.show(this.tabs[name]!);
    this.body.querySelector<HTMLElement>('.tabs [aria-current="true"]')?.focus();
    this.say(`${name}: ${count(this.rows.length, "row")}.`);
  }

  private drawResult(): void {
    const place = this.body.querySelector<HTMLElement>(".result")!;
    place.replaceChildren();
    this.fillSlowly([]); // what was being filled is gone
    if (!this.rows.length) return;
    if (this.layout === "table") this.drawTable(place);
    else if (this.layout === "cards") this.drawCards(place);
    else if (this.layout === "list") this.drawList(place);
    else this.drawBoard(place);
  }

  // --- what is asked for

  private controls(): HTMLElement {
    const { query } = this.data;
    const row = h("div", { class: "row controls" });
    if (!this.data.total) return row;
    row.append(this.choice("Layout", LAYOUTS.map((name) => [name, name]), this.layout, (value) => {
      this.layout = value as Layout;
      this.render();
      this.body.querySelector("select")?.focus();
    }));
    if (this.bridge.isAlone) row.append(this.filterField(), button("Save as CSV", () => this.saveCsv()));
    if (!this.bridge.canCall) return row;
    const columns = this.columns.map((column): [string, string] => [column.id, column.label]);
    const natural: [string, string] = ["", "as found"];
    row.append(
      this.choice("Sort", [natural, ...columns.flatMap(([id, label]): [string, string][] => [[id, label], [`-${id}`, `${label}, descending`]])], query.sort, (value) => this.ask({ sort: value, offset: 0 })),
      this.choice("Group", [["", "none"], ...columns], query.group, (value) => {
        if (value) this.layout = "board";
        this.ask({ group: value, offset: 0 });
      }),
    );
    const last = this.made.at(-1);
    if (last !== undefined) row.append(button("Undo", () => void this.undo(last)));
    return row;
  }

  private filterField(): HTMLElement {
    const field = h("input", { type: "search", value: this.filter });
    field.addEventListener("input", () => {
      this.filter = field.value;
      this.drawResult();
      const count = this.order.length;
      this.say(this.filter ? `${count} of ${this.rows.length} rows.` : "");
    });
    return h("label", {}, "Filter ", field);
  }

  /** Sort the rows of a page that stands alone; where there is a host, the server sorts all of them. */
  private sortBy(column: string): void {
    if (!this.bridge.isAlone) return this.ask({ sort: column, offset: 0 });
    this.sortedBy = column;
    this.drawResult();
    const index = this.columns.findIndex(({ id }) => id === column.replace(/^-/, ""));
    this.body.querySelectorAll<HTMLElement>("thead button")[index]?.focus();
  }

  private saveCsv(): void {
    const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = [this.columns.map((column) => column.label), ...this.order.map((number) => this.rows[number]!.cells.map(cellText))];
    const text = lines.map((cells) => cells.map(quote).join(",")).join("\r\n");
    const link = h("a", { href: URL.createObjectURL(new Blob([`\ufeff${text}\r\n`], { type: "text/csv" })), download: "query.csv" });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  private choice(label: string, options: [string, string][], chosen: string, act: (value: string) => void): HTMLElement {
    const select = h("select", { onchange: () => act(select.value) });
    for (const [value, text] of options) select.append(h("option", { value, selected: value === chosen }, text));
    return h("label", {}, `${label} `, select);
  }

  private ask(changed: Record<string, unknown>): void {
    void this.attempt(async () => {
      const layout = this.layout;
      const given = { ...this.data.query, offset: this.data.offset, layout, vault: this.data.vault, ...changed };
      this.show(await this.bridge.call("obsidian_show_query", given));
      this.say(`Showing ${count(this.rows.length, "row")}.`);
    });
  }

  private paging(): HTMLElement {
    const row = h("div", { class: "row" });
    if (!this.bridge.canCall) {
      if (this.data.next_offset) row.append(h("p", { class: "quiet" }, "More rows are not shown here."));
      return row;
    }
    if (this.data.offset > 0) row.append(button("First page", () => this.ask({ offset: 0 })));
    const next = this.data.next_offset;
    if (next !== undefined) row.append(button("Next page", () => this.ask({ offset: next })));
    return row;
  }

  // --- layouts

  private drawTable(place: HTMLElement): void {
    const sort = this.bridge.isAlone ? this.sortedBy || this.data.query.sort : this.data.query.sort;
    const head = h("tr", {}, this.data.tasks && h("th", { scope: "col" }, "Done"));
    for (const column of this.columns) {
      const direction = sort === column.id ? "ascending" : sort === `-${column.id}` ? "descending" : "none";
      const mark = { ascending: " ▲", descending: " ▼", none: "" }[direction];
      const next = direction === "ascending" ? `-${column.id}` : column.id;
      const title: Node | string = this.bridge.canCall || this.bridge.isAlone
        ? button(column.label + mark, () => this.sortBy(next), { class: "plain" })
        : column.label;
      head.append(h("th", { scope: "col", "aria-sort": direction }, title));
    }
    const body = h("tbody");
    const table = h("table", {}, h("thead", {}, head), body);
    place.append(wide(table));
    const groups = this.sortedBy ? null : this.groupOfRow();
    this.list(body, this.order.map((number) => () => {
      const row = this.rows[number]!;
      const rows: Node[] = [];
      const label = groups?.get(number);
      if (label !== undefined) {
        const width = this.columns.length + (this.data.tasks ? 1 : 0);
        rows.push(h("tr", { class: "head" }, h("th", { scope: "rowgroup", colspan: width }, label || "none")));
      }
      const cells = row.cells.map((cell, index) =>
        index === 0 ? h("th", { scope: "row" }, this.cell(cell)) : h("td", {}, this.cell(cell)),
      );
      rows.push(h("tr", {}, this.data.tasks && h("td", {}, this.tick(row)), ...cells));
      return rows;
    }));
  }

  /** Append what is made for each row: whole outside a chat, else as much as has room. */
  private list(place: HTMLElement, makers: (() => Node[])[]): void {
    if (this.bridge.isAlone) this.fillSlowly(makers.map((make) => () => place.append(...make())));
    else this.reveal(place, makers.flatMap((make) => make()));
  }

  /** By the first row of every group, its label. */
  private groupOfRow(): Map<number, string> | null {
    if (!this.data.groups) return null;
    return new Map(this.data.groups.map((group: any) => [group.rows[0], group.label]));
  }

  private drawCards(place: HTMLElement): void {
    const grid = h("ul", { class: "grid" });
    place.append(grid);
    this.list(grid, this.order.map((number) => () => [this.card(this.rows[number]!)]));
  }

  private card(row: Row): HTMLElement {
    const [first, ...rest] = row.cells;
    const facts = h("dl");
    rest.forEach((cell, index) => {
      const isLane = this.layout === "board" && this.columns[index + 1]!.id === this.data.query.group;
      if (cell && !isLane) facts.append(h("dt", {}, this.columns[index + 1]!.label), h("dd", {}, this.cell(cell)));
    });
    const name = h(this.layout === "board" ? "h3" : "h2", {}, this.cell(first ?? null) || "–");
    const title = h("div", { class: "row" }, this.tick(row), name);
    return h("li", { class: "card" }, title, facts, this.mover(row));
  }

  private drawList(place: HTMLElement): void {
    const list = h("ul", { class: "plain-list" });
    place.append(list);
    this.list(list, this.order.map((number) => () => {
      const row = this.rows[number]!;
      const [first, ...rest] = row.cells;
      const facts = rest.filter((cell) => cell).flatMap((cell) => [" · ", this.cell(cell)]);
      return [h("li", { class: "row" }, this.tick(row), h("span", {}, this.cell(first ?? null), h("span", { class: "meta" }, ...facts)))];
    }));
  }

  private drawBoard(place: HTMLElement): void {
    const groups: { label: string; rows: number[] }[] = this.data.groups ?? [
      { label: "All", rows: this.rows.map((_, number) => number) },
    ];
    if (!this.data.groups) place.append(h("p", { class: "quiet" }, "Choose a column under Group for a board."));
    const lanes = h("div", { class: "lanes" });
    place.append(lanes);
    const order = this.order;
    const rank = new Map(order.map((number, index) => [number, index]));
    const cards: { index: number; add: () => void }[] = [];
    for (const group of groups) {
      const list = h("ul");
      const members = group.rows.filter((number) => rank.has(number)).sort((a, b) => rank.get(a)! - rank.get(b)!);
      const title = h("h2", {}, `${group.label || "none"} (${members.length})`);
      lanes.append(h("section", { class: "lane", "aria-label": group.label || "none" }, title, list));
      members.forEach((number, index) => cards.push({ index, add: () => list.append(this.card(this.rows[number]!)) }));
    }
    cards.sort((a, b) => a.index - b.index); // the first cards of every lane come first
    const steps = cards.map(({ add }) => add);
    if (this.bridge.isAlone) this.fillSlowly(steps);
    else steps.forEach((add) => add());
    if (this.isInline) this.cropLanes(place, lanes);
  }

  private cropLanes(place: HTMLElement, lanes: HTMLElement): void {
    const cards = [...lanes.querySelectorAll<HTMLElement>(".card")];
    const hidden = cards.filter((card) => card.offsetTop + card.offsetHeight > 440 && card.previousElementSibling);
    for (const card of hidden) card.hidden = true;
    if (!hidden.length) return;
    const more = button(`Show more (${hidden.length})`, () => {
      for (const card of hidden) card.hidden = false;
      more.remove();
    }, { class: "more" });
    place.append(more);
  }

  // --- cells

  private cell(cell: Cell): Node | string {
    if (!cell) return "";
    const [type, value, path] = cell;
    switch (type) {
      case "number":
        return String(value); // as the app: a year is 1992, not 1,992
      case "bool":
        return value ? "yes" : "no";
      case "date":
        return h("time", { datetime: value }, this.date(value));
      case "list": {
        const list = h("span");
        (value as Cell[]).forEach((item, index) => list.append(index ? ", " : "", this.cell(item)));
        return list;
      }
      case "error":
        return h("span", { class: "problem-text" }, `Error: ${value}`);
      case "link":
        if (path && path.endsWith(".md") && this.bridge.canCall) {
          return button(value, () => void this.preview(path), { class: "plain link" });
        }
        if (path && this.bridge.isAlone) return openInApp(this.data.vault, path, value);
        return path ? value : `${value} (not created)`;
      default:
        return this.data.tasks ? plainLinks(String(value)) : String(value);
    }
  }

  /** What a person calls a row: a task by its words. */
  private name(row: Row): string {
    return plainLinks(String(row.cells[0]?.[1] ?? row.text ?? "task"));
  }

  private date(value: string): string {
    const isDay = value.length === 10;
    const moment = new Date(isDay ? `${value}T00:00:00` : value);
    if (Number.isNaN(moment.getTime())) return value;
    return moment.toLocaleString(this.locale, isDay ? { dateStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" });
  }

  private async preview(path: string): Promise<void> {
    await this.attempt(async () => {
      const page = await this.bridge.call("obsidian_note_page", { path, vault: this.data.vault });
      const close = button("Close", () => this.panel.replaceChildren());
      this.panel.replaceChildren(h("h2", {}, fileName(path)), h("p", { class: "meta" }, path), h("p", { class: "lines" }, firstLines(page.markdown)), close);
      this.panel.scrollIntoView({ block: "nearest" });
    });
  }

  // --- tasks

  private tick(row: Row): HTMLElement | false {
    if (!this.data.tasks) return false;
    const box = h("input", { type: "checkbox", "aria-label": this.name(row), checked: !!row.done, disabled: !this.bridge.canCall });
    box.addEventListener("change", () => void this.change(row, { status: row.done ? "todo" : "done" }, box));
    return h("label", { class: "tick" }, box);
  }

  /** Instead of dragging a card: where else on the board it can go. */
  private mover(row: Row): HTMLElement | false {
    const by = this.data.query.group;
    if (!this.data.tasks || this.layout !== "board" || !this.bridge.canCall) return false;
    if (!["status", "priority", "due"].includes(by)) return false;
    const here = String(row.cells[this.columns.findIndex((column) => column.id === by)]?.[1] ?? "");
    const lanes: string[] =
      by === "status" ? Object.keys(STATUSES) : by === "priority" ? PRIORITIES : this.data.groups.map((group: any) => group.label);
    const others = lanes.filter((lane) => lane !== here && !(by === "priority" && lane === "none" && !here));
    const select = h("select", { "aria-label": `Move ${this.name(row)} to` }, h("option", { value: "?" }, "Move to…"));
    for (const lane of others) select.append(h("option", { value: lane }, lane || "none"));
    select.addEventListener("change", () => {
      const value = by === "status" ? STATUSES[select.value] : select.value;
      void this.change(row, { [by]: value });
    });
    return select;
  }

  private async change(row: Row, changed: Record<string, unknown>, box?: HTMLInputElement): Promise<void> {
    await this.attempt(async () => {
      try {
        // The line's text goes along: a line that has moved or changed is refused.
        const named = { name: row.path, line: row.line, task: row.text, vault: this.data.vault };
        const answer = await this.bridge.call("obsidian_update_task", { ...named, ...changed });
        const history = await this.bridge.call("obsidian_show_changes", { vault: this.data.vault });
        this.made.push(history.change);
        const next = answer.next?.due ? ` The next occurrence is due ${this.date(answer.next.due)}.` : answer.next ? " The next occurrence was added." : "";
        await this.reload();
        this.say(`${this.name(row)}: ${Object.entries(changed).map(([key, value]) => `${key} ${value || "none"}`).join(", ")}.${next}`);
        this.bridge.tell(`The user changed a task in ${row.path}, line ${row.line}: ${Object.keys(changed).join(", ")}.`);
      } catch (error) {
        if (box) box.checked = !!row.done;
        throw error;
      }
    });
  }

  private async reload(): Promise<void> {
    const given = { ...this.data.query, offset: this.data.offset, layout: this.layout, vault: this.data.vault };
    this.show(await this.bridge.call("obsidian_show_query", given));
  }

  private async undo(change: number): Promise<void> {
    await this.attempt(async () => {
      await this.bridge.call("obsidian_undo", { change, vault: this.data.vault });
      this.made.pop();
      await this.reload();
      this.say(`Change ${change} is undone.`);
    });
  }
}

/** A cell as plain text: what a filter looks at, and what CSV has. */
function cellText(cell: Cell): string {
  if (!cell) return "";
  const [type, value] = cell;
  return type === "list" ? (value as Cell[]).map(cellText).join(", ") : String(value);
}

/** Numbers by size, all else by its words; empty cells come last. */
function compareCells(a: Cell, b: Cell): number {
  if (!a || !b) return a ? -1 : b ? 1 : 0;
  if (a[0] === "number" && b[0] === "number") return a[1] - b[1];
  return cellText(a).localeCompare(cellText(b), undefined, { numeric: true });
}

new Query("query", "obsidian_show_query").start();
