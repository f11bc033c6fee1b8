/** Bytes to bodies and back, framed as LSP frames them (spec/framing.md). */

/** Longest line of a header, in bytes. Ours has one line of about 30. */
const MAX_LINE = 1024;

/** Largest body that is read, in bytes. More than this is a wrong length rather than an answer. */
const MAX_BODY = 256 * 1024 * 1024;

const NEWLINE = 0x0a;

/** What a header line may be while its end has not come yet. */
const LINE_SO_FAR = /^[\w-]*(:[\t\r\x20-\x7e]*)?\r?$/;

/** One message as it goes over the pipe. JSON.stringify has made half surrogate pairs escapes, so that none is lost. */
export function encodeFrame(body: string): Buffer {
  const length = Buffer.byteLength(body);
  const head = `Content-Length: ${length}\r\n\r\n`;
  const frame = Buffer.allocUnsafe(head.length + length);
  frame.write(head, 0, "latin1");
  frame.write(body, head.length, "utf8");
  return frame;
}

/** The bytes are no frames. After that their boundaries are lost. */
export class FramingError extends Error {}

/** Cuts a stream of chunks into bodies. Each byte is looked at once and copied at most once, however it is chunked. */
export class FrameReader {
  #line = "";
  #length: number | null = null;
  /** Bytes of the body that are still to come; null while a header is read. */
  #missing: number | null = null;
  #parts: Buffer[] = [];

  /** The bodies that this chunk completes, those before a mistake too. Throws FramingError. */
  *push(chunk: Buffer): Generator<string, void> {
    let at = 0;
    while (at < chunk.length) {
      at = this.#missing === null ? this.#readLine(chunk, at) : this.#readBody(chunk, at, this.#missing);
      if (this.#missing === 0) yield this.#takeBody();
    }
  }

  #readLine(chunk: Buffer, at: number): number {
    const newline = chunk.indexOf(NEWLINE, at);
    const end = newline === -1 ? chunk.length : newline;
    this.#line += chunk.toString("latin1", at, Math.min(end, at + MAX_LINE));
    if (this.#line.length >= MAX_LINE || !LINE_SO_FAR.test(this.#line)) throw noHeader(this.#line);
    if (newline !== -1) {
      this.#endLine(this.#line.trim());
      this.#line = "";
    }
    return end + 1;
  }

  #endLine(line: string): void {
    if (line !== "") {
      const [name = "", value] = line.split(/\s*:\s*/, 2);
      if (value === undefined) throw noHeader(line);
      if (name.toLowerCase() === "content-length") this.#length = lengthOf(value);
      return;
    }
    if (this.#length === null) throw new FramingError("a header without Content-Length");
    this.#missing = this.#length;
    this.#length = null;
  }

  #readBody(chunk: Buffer, at: number, missing: number): number {
    const end = Math.min(chunk.length, at + missing);
    this.#parts.push(chunk.subarray(at, end));
    this.#missing = missing - (end - at);
    return end;
  }

  #takeBody(): string {
    const [first] = this.#parts;
    const body = this.#parts.length === 1 && first ? first.toString() : Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#missing = null;
    return body;
  }
}

function noHeader(line: string): FramingError {
  return new FramingError(`no header: ${JSON.stringify(line.slice(0, 200))}`);
}

function lengthOf(value: string): number {
  const length = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN;
  if (!(length <= MAX_BODY)) throw new FramingError(`no usable length: ${JSON.stringify(value)}`);
  return length;
}
