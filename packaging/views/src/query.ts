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
  private readonly panel = h("section", { class: "panel", "aria-live": "polite" });

  show(data: Data): void {
    this.data = data;
    this.layout = LAYOUTS.includes(data.layout) ? data.layout : "table";
    this.render();
  }

  private get columns(): Column[] {
    return this.data.columns;
  }

  private get rows(): Row[] {
    return this.data.rows;
  }

  private render(): void {
    const { data } = this;
    const first = data.offset + 1;
    const range = this.rows.length ? `${first}–${data.offset + this.rows.length} of ${data.total}` : "Nothing found";
    const facts = data.note ? `${range} · ${data.note}` : range;
    const heading = data.tasks ? "Tasks" : data.query.view || "Query";
    const head = h("header", {}, h("h1", {}, heading), h("p", { class: "meta" }, facts));
    const place = h("div", { class: `result ${this.layout}` });
    this.panel.replaceChildren();
    this.body.replaceChildren(head, this.controls(), place, this.paging(), this.panel);
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

  private choice(label: string, options: [string, string][], chosen: string, act: (value: string) => void): HTMLElement {
    const select = h("select", { onchange: () => act(select.value) });
    for (const [value, text] of options) select.append(h("option", { value, selected: value === chosen }, text));
    return h("label", {}, `${label} `, select);
  }

  private ask(changed: Record<string, unknown>): void {
    void this.attempt(async () => {
      const layout = this.layout;
      const given = { ...this.data.query, offset: this.data.offset, ...changed, layout, vault: this.data.vault };
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
    const { sort } = this.data.query;
    const head = h("tr", {}, this.data.tasks && h("th", { scope: "col" }, "Done"));
    for (const column of this.columns) {
      const direction = sort === column.id ? "ascending" : sort === `-${column.id}` ? "descending" : "none";
      const mark = { ascending: " ▲", descending: " ▼", none: "" }[direction];
      const next = direction === "ascending" ? `-${column.id}` : column.id;
      const title: Node | string = this.bridge.canCall
        ? button(column.label + mark, () => this.ask({ sort: next, offset: 0 }), { class: "plain" })
        : column.label;
      head.append(h("th", { scope: "col", "aria-sort": direction }, title));
    }
    const body = h("tbody");
    const table = h("table", {}, h("thead", {}, head), body);
    place.append(wide(table));
    const groups = this.groupOfRow();
    const rows: Node[] = [];
    this.rows.forEach((row, number) => {
      const label = groups?.get(number);
      if (label !== undefined) {
        const width = this.columns.length + (this.data.tasks ? 1 : 0);
        rows.push(h("tr", { class: "head" }, h("th", { scope: "rowgroup", colspan: width }, label || "none")));
      }
      const cells = row.cells.map((cell, index) =>
        index === 0 ? h("th", { scope: "row" }, this.cell(cell)) : h("td", {}, this.cell(cell)),
      );
      rows.push(h("tr", {}, this.data.tasks && h("td", {}, this.tick(row)), ...cells));
    });
    this.reveal(body, rows);
  }

  /** By the first row of every group, its label. */
  private groupOfRow(): Map<number, string> | null {
    if (!this.data.groups) return null;
    return new Map(this.data.groups.map((group: any) => [group.rows[0], group.label]));
  }

  private drawCards(place: HTMLElement): void {
    const grid = h("ul", { class: "grid" });
    place.append(grid);
    this.reveal(
      grid,
      this.rows.map((row) => this.card(row)),
    );
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
    this.reveal(
      list,
      this.rows.map((row) => {
        const [first, ...rest] = row.cells;
        const facts = rest.filter((cell) => cell).flatMap((cell) => [" · ", this.cell(cell)]);
        return h("li", { class: "row" }, this.tick(row), h("span", {}, this.cell(first ?? null), h("span", { class: "meta" }, ...facts)));
      }),
    );
  }

  private drawBoard(place: HTMLElement): void {
    const groups: { label: string; rows: number[] }[] = this.data.groups ?? [
      { label: "All", rows: this.rows.map((_, number) => number) },
    ];
    if (!this.data.groups) place.append(h("p", { class: "quiet" }, "Choose a column under Group for a board."));
    const lanes = h("div", { class: "lanes" });
    place.append(lanes);
    for (const group of groups) {
      const list = h("ul");
      const title = h("h2", {}, `${group.label || "none"} (${group.rows.length})`);
      lanes.append(h("section", { class: "lane", "aria-label": group.label || "none" }, title, list));
      list.append(...group.rows.map((number) => this.card(this.rows[number]!)));
    }
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
        return Number(value).toLocaleString(this.locale);
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

new Query("query", "obsidian_show_query").start();
