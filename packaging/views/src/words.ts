// Which words of a changed line are new: the longest common subsequence of its words.

const MOST_WORDS = 400;
const WORDS = /\p{L}+|\p{N}+|\s+|[^\p{L}\p{N}\s]/gu;

/** The words of a line, each with whether the other line lacks it. */
export type Marked = [word: string, isChanged: boolean][];

export function compareWords(old: string, young: string): [Marked, Marked] {
  const a = old.match(WORDS) ?? [];
  const b = young.match(WORDS) ?? [];
  if (a.length * b.length > MOST_WORDS ** 2) return [[[old, true]], [[young, true]]];
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] =
        a[i] === b[j]
          ? length[(i + 1) * width + j + 1]! + 1
          : Math.max(length[(i + 1) * width + j]!, length[i * width + j + 1]!);
    }
  }
  const [left, right]: [Marked, Marked] = [[], []];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      left.push([a[i++]!, false]);
      right.push([b[j++]!, false]);
    } else if (j >= b.length || (i < a.length && length[(i + 1) * width + j]! >= length[i * width + j + 1]!)) {
      left.push([a[i++]!, true]);
    } else right.push([b[j++]!, true]);
  }
  return [left, right];
}
