/**
 * The server's environment: all of the window's, because the person's settings.toml may name any variable as a key; but
 * not what bends Python, which was meant for another program and can keep the server from starting.
 */
export function serverEnvironment(window: Readonly<NodeJS.ProcessEnv>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(window).filter(([name]) => !name.toUpperCase().startsWith("PYTHON")));
}
