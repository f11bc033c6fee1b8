/** What a configuration says of one key, place by place; undefined where it says nothing. */
export interface Places {
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
}

/** Settings as the server takes them: `{condense: {minBatchChars: 0}}`. */
export type Tree = Record<string, Record<string, unknown>>;

/**
 * The settings that somebody set, of `keys` such as `condense.minBatchChars`. VS Code's defaults stay out: they would
 * hide what the person's settings.toml says.
 */
export function settingsOf(keys: readonly string[], inspect: (key: string) => Places | undefined): Tree {
  const tree: Tree = {};
  for (const key of keys) {
    const places = inspect(key);
    const value = places?.workspaceFolderValue ?? places?.workspaceValue ?? places?.globalValue;
    const [section, name] = key.split(".");
    if (value !== undefined && section !== undefined && name !== undefined) (tree[section] ??= {})[name] = value;
  }
  return tree;
}

/** The settings of `after` that `before` does not have so. */
export function changes(before: Tree, after: Tree): Tree {
  const changed: Tree = {};
  for (const [section, values] of Object.entries(after)) {
    for (const [name, value] of Object.entries(values)) {
      const same = JSON.stringify(before[section]?.[name]) === JSON.stringify(value);
      if (!same) (changed[section] ??= {})[name] = value;
    }
  }
  return changed;
}

/** Whether `after` lacks a setting that `before` has: the server can be told of new values, but not to forget one. */
export function takesBack(before: Tree, after: Tree): boolean {
  return Object.entries(before).some(([section, values]) =>
    Object.keys(values).some((name) => after[section]?.[name] === undefined),
  );
}
