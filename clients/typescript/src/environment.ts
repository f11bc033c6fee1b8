import type { Settings } from "./protocol.js";

/**
 * What a process needs of its surroundings: who the user is, where things are, how text is written, how the network is
 * reached. Everything else stays with the host, above all its keys and what bends Python (PYTHONPATH and the like).
 */
const PASSED_ON = new Set([
  ...["HOME", "USER", "LOGNAME", "SHELL", "PATH", "TMPDIR", "TZ", "LANG", "LANGUAGE", "TERM"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"],
  ...["APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "USERNAME", "TEMP", "TMP"],
  ...["SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS"],
]);

const PREFIXES = ["LC_", "XDG_", "AFTERTURN_"];

/**
 * The server's environment: the host's safe variables, those that the settings name as keys, and `extra` over them.
 * AFTERTURN_SETTINGS holds settings too, which the person has laid down.
 */
export function environmentFor(
  host: NodeJS.ProcessEnv,
  extra: Readonly<Record<string, string | undefined>> = {},
  settings: Settings = {},
): NodeJS.ProcessEnv {
  const laidDown = [settings, settingsIn({ ...host, ...extra }["AFTERTURN_SETTINGS"])];
  const keys = laidDown.flatMap(({ models, embeddings }) => [models?.apiKeyEnv, embeddings?.apiKeyEnv]);
  const isPassedOn = (name: string): boolean =>
    PASSED_ON.has(name.toUpperCase()) || PREFIXES.some((prefix) => name.startsWith(prefix)) || keys.includes(name);
  const safe = Object.entries(host).filter(([name]) => isPassedOn(name));
  const all = Object.entries({ ...Object.fromEntries(safe), ...extra });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** What is no JSON object holds none; the server reports it. */
function settingsIn(json: string | undefined): Settings {
  try {
    return (JSON.parse(json ?? "{}") ?? {}) as Settings;
  } catch {
    return {};
  }
}
