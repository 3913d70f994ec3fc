// A change, before it is made or after: one card for every file, to apply, discard or undo.
import type { CallError, Data } from "./bridge";
import { button, count, h, View } from "./ui";
import { compareWords, type Marked } from "./words";

interface FileChange {
  path: string;
  to?: string;
  op: "create" | "modify" | "move" | "delete";
  added: number;
  removed: number;
  state: "pending" | "applied" | "stale";
  needs?: string;
  binary?: boolean;
  /** In a page that stands outside a chat. */
  hunks?: Hunk[];
  cut?: boolean;
}

interface Hunk {
  old: number;
  new: number;
  heading: string;
  lines: string[];
}

const WORDS = { create: "New", modify: "Changed", move: "Moved", delete: "Deleted" };

class Changes extends View {
  private data: Data = {};
  private files: FileChange[] = [];
  private discarded = new Set<string>();
  private opened = new Set<string>();
  /** The entries of the journal that were made here, the latest last. */
  private made: number[] = [];
  private undone = new Set<number>();
  private cards = 0;

  show(data: Data): void {
    if (data.changes) return this.showHistory(data.changes);
    this.data = data;
    this.files = data.files ?? [];
    this.discarded.clear();
    this.opened.clear();
    this.made = data.change ? [data.change] : [];
    this.undone = new Set(data.undone_by ? [data.change] : []);
    this.say("");
    this.render();
  }

  /** Several changes, one below the other: in a page that stands outside a chat. */
  private showHistory(changes: Data[]): void {
    this.body.replaceChildren(h("h1", {}, "History"), h("p", { class: "meta" }, count(changes.length, "change")));
    for (const change of changes) {
      this.data = change;
      this.files = change.files;
      this.body.append(h("section", { class: "change" }, this.heading(), ...this.files.map((file) => this.card(file))));
    }
  }

  private get isPlan(): boolean {
    return !!this.data.plan;
  }

  private get pending(): FileChange[] {
    return this.files.filter((file) => file.state === "pending" && !this.discarded.has(file.path));
  }

  private render(): void {
    const list = h("div", { class: "files" });
    this.body.replaceChildren(this.heading(), list, this.data.cursor === undefined ? "" : this.moreFiles());
    if (!this.files.length) list.append(h("p", { class: "quiet" }, "No file is changed."));
    this.reveal(
      list,
      this.files.map((file) => this.card(file)),
    );
  }

  private heading(): HTMLElement {
    const { data } = this;
    const facts: string[] = [count(data.total ?? this.files.length, "file")];
    if (data.change && !this.isPlan) {
      facts.push(`change ${data.change}`, this.time(data.time), `by ${data.by}`);
      if (data.undone_by) facts.push(`undone by change ${data.undone_by}`);
    } else if (data.expires && this.pending.length) facts.push(`plan ends ${this.time(data.expires)}`);
    const head = h("header", {}, h("h1", {}, data.summary ?? "Changes"), h("p", { class: "meta" }, facts.join(" · ")));
    if (this.bridge.canCall) {
      head.append(this.actions());
      const waits = this.pending.some((file) => this.isBlocked(file));
      if (waits) head.append(h("p", { class: "quiet" }, "Links wait for the move."));
    } else if (this.isPlan) head.append(h("p", { class: "notice" }, "Read only: this host lets no view call tools."));
    return head;
  }

  private time(text: string): string {
    const zone = this.bridge.context.timeZone as string | undefined;
    return new Date(text).toLocaleString(this.locale, { dateStyle: "medium", timeStyle: "short", timeZone: zone });
  }

  private actions(): HTMLElement {
    const row = h("div", { class: "row" });
    const ready = this.pending.length + (this.data.cut ?? 0);
    if (this.isPlan && this.pending.length) {
      const whole = !this.discarded.size && this.files.every((file) => file.state === "pending");
      const all = () => this.apply(whole ? [] : this.pending.map((file) => file.path));
      row.append(
        button(`Apply all (${whole ? ready : this.pending.length})`, all, { class: "primary" }),
        button("Discard all", () => this.discard(this.files)),
      );
    }
    const last = this.made.filter((change) => !this.undone.has(change)).at(-1);
    if (last !== undefined) row.append(button(`Undo change ${last}`, () => void this.undo(last)));
    return row;
  }

  /** Whether a link waits for the move of what it names. */
  private isBlocked(file: FileChange): boolean {
    return this.files.some((other) => other.path === file.needs && other.state !== "applied");
  }

  private card(file: FileChange): HTMLElement {
    const state = this.discarded.has(file.path) ? "discarded" : file.state;
    const id = `file-${this.cards++}`;
    const detail = h("div", { id, hidden: !this.opened.has(file.path) });
    const opener = button("", () => void this.toggle(file, opener, detail), {
      class: "opener",
      "aria-expanded": String(this.opened.has(file.path)),
      "aria-controls": id,
    });
    opener.append(
      file.path,
      file.to ? ` → ${file.to}` : "",
      h("span", { class: "meta" }, `  ${WORDS[file.op]} `),
    );
    if (file.added + file.removed) {
      const plus = h("span", { class: "plus" }, `+${file.added} `, h("span", { class: "hidden-text" }, "lines added, "));
      const minus = h("span", { class: "minus" }, `−${file.removed}`, h("span", { class: "hidden-text" }, " lines removed"));
      opener.append(h("span", { class: "counts" }, plus, minus));
    }
    const actions = h("div", { class: "row" }, ...this.fileActions(file, state));
    const row = h("div", { class: "row" }, h("h2", { class: "grow" }, opener), actions);
    if (this.opened.has(file.path)) void this.fill(file, detail);
    return h("section", { class: "card file", "data-path": file.path, "data-state": state }, row, detail);
  }

  private fileActions(file: FileChange, state: string): HTMLElement[] {
    if (!this.isPlan) return this.undoActions(file);
    if (state === "stale") return [h("span", { class: "badge" }, "changed meanwhile")];
    if (state !== "pending") return [h("span", { class: "badge" }, state)];
    if (!this.bridge.canCall) return [];
    const blocked = this.isBlocked(file);
    const apply = button("Apply", () => this.apply([file.path]), {
      "aria-label": `Apply ${file.path}`,
      disabled: blocked,
    });
    if (blocked) apply.title = `Needs the move of ${file.needs}`;
    return [apply, button("Discard", () => this.discard([file]), { "aria-label": `Discard ${file.path}` })];
  }

  /** A change of several files is taken back file by file, or as a whole by the button in the heading. */
  private undoActions(file: FileChange): HTMLElement[] {
    if (!this.canUndo || this.files.length < 2) return [];
    const act = () => void this.undoPart(file.path, { paths: [file.path] });
    return [button("Undo", act, { "aria-label": `Undo the changes in ${file.path}` })];
  }

  private get canUndo(): boolean {
    return this.bridge.canCall && !this.isPlan && !!this.data.change && !this.undone.has(this.data.change);
  }

  private async toggle(file: FileChange, opener: HTMLElement, detail: HTMLElement): Promise<void> {
    const isOpen = detail.hidden;
    opener.setAttribute("aria-expanded", String(isOpen));
    detail.hidden = !isOpen;
    if (isOpen) this.opened.add(file.path);
    else this.opened.delete(file.path);
    if (isOpen && !detail.childNodes.length) await this.fill(file, detail);
  }

  private async fill(file: FileChange, detail: HTMLElement): Promise<void> {
    await this.attempt(async () => {
      if (!file.hunks) {
        if (!this.bridge.canCall) {
          detail.append(h("p", { class: "quiet" }, "The lines are not shown: this host lets no view call tools."));
          return;
        }
        const found = await this.bridge.call("obsidian_plan_diff", { ...this.source, path: file.path });
        file.hunks = found.hunks;
        file.cut = found.cut;
      }
      const empty = file.binary ? "Not a text." : "Its text does not change.";
      const undoHunk = (hunk: number) => void this.undoPart(`hunk ${hunk} of ${file.path}`, { paths: [file.path], hunks: [hunk] });
      const isDivided = this.canUndo && file.op !== "create" && file.op !== "delete";
      detail.replaceChildren(file.hunks!.length ? table(file.hunks!, isDivided ? undoHunk : null) : h("p", { class: "quiet" }, empty));
      if (file.cut) detail.append(h("p", { class: "quiet" }, "There are more lines than are shown here."));
    });
  }

  private get source(): Record<string, unknown> {
    const which = this.isPlan ? { plan: this.data.plan } : { change: this.data.change };
    return { ...which, vault: this.data.vault };
  }

  private moreFiles(): HTMLElement {
    if (!this.bridge.canCall) return h("p", { class: "quiet" }, `${this.data.cut} more files are not listed.`);
    return button(`List more files (${this.data.cut})`, () =>
      void this.attempt(async () => {
        const next = await this.bridge.call("obsidian_plan_diff", { ...this.source, cursor: this.data.cursor });
        this.files.push(...next.files);
        this.data.cursor = next.cursor;
        this.data.cut = next.cut;
        this.render();
      }),
    );
  }

  private apply(paths: string[]): void {
    void this.attempt(async () => {
      const given = { plan: this.data.plan, paths, vault: this.data.vault };
      try {
        this.applied(await this.bridge.call("obsidian_apply_plan", given), paths);
      } catch (error) {
        const failed = error as CallError;
        if (failed.code === "CONFIRMATION_REQUIRED") return this.confirm(given, failed.message);
        throw await this.refreshed(failed);
      }
    });
  }

  /** The vault's policy wants this kind of change confirmed, and the host could not ask. */
  private confirm(given: { paths: string[] }, why: string): void {
    const agreed = { ...given, confirm: true };
    const yes = button("Yes, apply", () =>
      void this.attempt(async () => this.applied(await this.bridge.call("obsidian_apply_plan", agreed), given.paths)),
    );
    this.body.prepend(h("div", { class: "notice", role: "alert" }, h("p", {}, why), yes));
    yes.focus();
  }

  /** Those files of a plan, or all of them, have been applied: what the answer lists are only the first. */
  private applied(answer: Data, paths: string[]): void {
    const done = paths.length || this.pending.length + (this.data.cut ?? 0);
    for (const file of this.files) if (!paths.length || paths.includes(file.path)) file.state = "applied";
    this.made.push(answer.change);
    this.render();
    this.say(`Applied: ${count(done, "file")} changed, as change ${answer.change}.`);
    this.bridge.tell(
      `The user applied ${done} of ${this.data.total} files of plan ${this.data.plan} as change ${answer.change}.`,
    );
  }

  /** Ask what became of the files that are listed here. */
  private async update(): Promise<void> {
    let cursor: number | undefined = 0;
    while (cursor !== undefined && cursor < this.files.length) {
      const answer: Data = await this.bridge.call("obsidian_plan_diff", { ...this.source, cursor });
      for (const now of answer.files as FileChange[]) {
        const known = this.files.find((file) => file.path === now.path);
        if (known) Object.assign(known, { needs: undefined }, now);
      }
      cursor = answer.cursor;
    }
  }

  /** After a refusal the files are looked at again: one of them may have changed. */
  private async refreshed(error: Error): Promise<Error> {
    try {
      await this.update();
      this.render();
    } catch {
      // the refusal itself says what is wrong
    }
    return error;
  }

  private discard(files: FileChange[]): void {
    const dropped = files.filter((file) => file.state === "pending");
    for (const file of dropped) this.discarded.add(file.path);
    const stale = dropped.some((file) => file.op === "modify" && this.files.some((other) => other.op === "move"));
    this.render();
    const kept = stale && this.pending.length ? " Links there keep the old name." : "";
    this.say(`Discarded: ${count(dropped.length, "file")} will not be changed.${kept}`);
    this.bridge.tell(`The user discarded ${dropped.length} of ${this.data.total} files of plan ${this.data.plan}.`);
  }

  /** Take back some files, or hunks of one; the change stays in the history with what is left of it. */
  private async undoPart(name: string, part: Record<string, unknown>): Promise<void> {
    await this.attempt(async () => {
      const answer = await this.bridge.call("obsidian_undo", { change: this.data.change, vault: this.data.vault, ...part });
      this.say(`Undone: ${name}, as change ${answer.change}.`);
      this.bridge.tell(`The user undid ${name} in change ${this.data.change}, as change ${answer.change}.`);
    });
  }

  private async undo(change: number): Promise<void> {
    await this.attempt(async () => {
      const answer = await this.bridge.call("obsidian_undo", { change, vault: this.data.vault });
      this.undone.add(change);
      if (this.isPlan) await this.update();
      else this.data.undone_by = answer.change;
      this.render();
      this.say(`Change ${change} is undone.`);
      this.bridge.tell(`The user undid change ${change}.`);
    });
  }
}

/** The lines of a file. `undo` takes a hunk back by its number, from 1 as in the history; null: nobody can. */
function table(hunks: Hunk[], undo: ((hunk: number) => void) | null): HTMLElement {
  const body = h("tbody");
  hunks.forEach((hunk, index) => {
    const title = hunk.heading ? `${hunk.heading}, line ${hunk.new}` : `Line ${hunk.new}`;
    const label = { class: "plain", "aria-label": `Undo the lines of hunk ${index + 1}` };
    const take = undo && hunks.length > 1 && button("Undo these lines", () => undo(index + 1), label);
    body.append(h("tr", { class: "head" }, h("td", { colspan: 3 }, title, " ", take)));
    let [old, young] = [hunk.old, hunk.new];
    const marked = pairs(hunk.lines);
    hunk.lines.forEach((line, place) => {
      const sign = line[0]!;
      const words: Marked = marked.get(place) ?? [[line.slice(1), false]];
      const text = words.map(([word, isChanged]) => (isChanged && marked.has(place) ? h("mark", {}, word) : word));
      const number = sign === "-" ? old : young;
      if (sign !== "+") old += 1;
      if (sign !== "-") young += 1;
      const kind = { "+": "add", "-": "del" }[sign] ?? "";
      const said = { "+": "added: ", "-": "removed: " }[sign];
      body.append(
        h(
          "tr",
          { class: kind },
          h("th", { scope: "row" }, String(number)),
          h("td", { class: "sign" }, sign === "-" ? "−" : sign, said ? h("span", { class: "hidden-text" }, said) : ""),
          h("td", {}, ...text),
        ),
      );
    });
  });
  return h("table", { class: "diff" }, body);
}

/** By line, its words: of removed lines that as many added ones follow. */
function pairs(lines: string[]): Map<number, Marked> {
  const found = new Map<number, Marked>();
  for (let start = 0; start < lines.length; start++) {
    let middle = start;
    while (lines[middle]?.[0] === "-") middle += 1;
    let end = middle;
    while (lines[end]?.[0] === "+") end += 1;
    if (middle > start && end - middle === middle - start) {
      for (let each = start; each < middle; each++) {
        const other = each + middle - start;
        const [old, young] = compareWords(lines[each]!.slice(1), lines[other]!.slice(1));
        found.set(each, old);
        found.set(other, young);
      }
    }
    start = Math.max(start, end - 1);
  }
  return found;
}

new Changes("changes", "obsidian_show_changes").start();
