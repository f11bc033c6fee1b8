/** Patterns of scripted conversations, and values with names in them (spec/conversations/README.md). */

type Fields = Record<string, unknown>;

const TYPES: Record<string, (value: unknown) => boolean> = {
  any: () => true,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  number: (value) => typeof value === "number",
  object: (value) => isObject(value),
  array: Array.isArray,
  null: (value) => value === null,
};

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value with every `$use` and `$repeat` replaced by what it stands for. */
export function fill(value: unknown, bound: Fields): unknown {
  if (Array.isArray(value)) return value.map((item) => fill(item, bound));
  if (!isObject(value)) return value;
  const [name, operand] = matcherOf(value) ?? [];
  if (name === "$use") return bound[operand as string];
  if (name === "$repeat") return repeated(operand);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, bound)]));
}

/** Null where the value fits, else where and why not. `bound` takes what `$bind` catches. */
export function mismatch(pattern: unknown, value: unknown, bound: Fields, at = "$"): string | null {
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length) return no(at, `${pattern.length} items`, value);
    return first(pattern, (item, index) => mismatch(item, value[index], bound, `${at}[${index}]`));
  }
  if (!isObject(pattern)) return pattern === value ? null : no(at, show(pattern), value);
  const [name, operand] = matcherOf(pattern) ?? [];
  const matcher = name === undefined ? undefined : MATCHERS[name];
  if (matcher) return matcher(operand, value, bound, at);
  if (!isObject(value)) return no(at, "an object", value);
  return first(Object.entries(pattern), ([key, item]) => {
    const isThere = Object.hasOwn(value, key);
    if (isObject(item) && item["$absent"] === true)
      return isThere ? no(`${at}.${key}`, "no such field", value[key]) : null;
    return isThere ? mismatch(item, value[key], bound, `${at}.${key}`) : no(`${at}.${key}`, "a field", value);
  });
}

type Matcher = (operand: unknown, value: unknown, bound: Fields, at: string) => string | null;

const MATCHERS: Record<string, Matcher> = {
  $any: (type, value, _, at) => (TYPES[type as string]?.(value) ? null : no(at, String(type), value)),
  $bind: (name, value, bound) => {
    bound[name as string] = value;
    return null;
  },
  $use: (name, value, bound, at) => mismatch(bound[name as string], value, bound, at),
  $repeat: (operand, value, bound, at) => mismatch(repeated(operand), value, bound, at),
  $exact: (pattern, value, bound, at) => {
    const extra = isObject(value) ? Object.keys(value).filter((key) => !Object.hasOwn(pattern as Fields, key)) : [];
    return extra.length > 0 ? `${at}: unexpected fields ${extra.join(", ")}` : mismatch(pattern, value, bound, at);
  },
  $contains: (pattern, value, bound, at) => {
    const wanted = fill(pattern, bound);
    const isIn =
      typeof value === "string"
        ? typeof wanted === "string" && value.includes(wanted)
        : Array.isArray(value) && value.some((item) => mismatch(wanted, item, { ...bound }) === null);
    return isIn ? null : no(at, `to contain ${show(wanted)}`, value);
  },
  $oneOf: (patterns, value, bound, at) => {
    for (const pattern of patterns as unknown[]) {
      const trial = { ...bound };
      if (mismatch(pattern, value, trial, at) === null) {
        Object.assign(bound, trial);
        return null;
      }
    }
    return no(at, `one of ${show(patterns)}`, value);
  },
};

/** Name and operand, where the object is nothing but a matcher. */
function matcherOf(pattern: Fields): [name: string, operand: unknown] | undefined {
  const [entry, ...more] = Object.entries(pattern);
  return entry && more.length === 0 && Object.hasOwn(MATCHERS, entry[0]) ? entry : undefined;
}

function repeated(operand: unknown): string {
  const [text, times] = operand as [string, number];
  return text.repeat(times);
}

function first<T>(items: readonly T[], problemOf: (item: T, index: number) => string | null): string | null {
  for (const [index, item] of items.entries()) {
    const problem = problemOf(item, index);
    if (problem !== null) return problem;
  }
  return null;
}

function no(at: string, expected: string, value: unknown): string {
  return `${at}: expected ${expected}, got ${show(value)}`;
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 300);
}
