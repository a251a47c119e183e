/**
 * One terminal: xterm.js, its WebSocket, and its size.
 *
 * Earlier output comes first on each connection, so the screen is cleared when the
 * connection is restored.
 */

import { FitAddon } from "@xterm/addon-fit";
import { Terminal, type ITheme } from "@xterm/xterm";

import { socketUrl } from "../api/client";
import type { TerminalSize } from "../api/types";
import { resolveColour } from "../charts/theme";
import { Connection, GONE } from "../live/connection";

const encoder = new TextEncoder();

export class LiveTerminal {
  readonly screen: Terminal;
  private readonly fitter = new FitAddon();
  private readonly connection: Connection;
  private size: TerminalSize = { rows: 0, columns: 0 };
  private isNew = true;

  /**
   * @param element - where it is shown.
   * @param isAlive - whether its shell runs; a connection that is lost after its end is not reopened.
   */
  constructor(
    element: HTMLElement,
    place: { sessionId: string; id: number },
    readerMode: boolean,
    isAlive: () => boolean,
  ) {
    this.screen = new Terminal({
      cursorBlink: true,
      fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace',
      fontSize: 12.5,
      scrollback: 5000,
      screenReaderMode: readerMode,
      theme: themeOf(element),
    });
    this.screen.loadAddon(this.fitter);
    this.screen.open(element);
    // Before any output: earlier output was wrapped for this size.
    this.fitter.fit();
    this.screen.attachCustomKeyEventHandler((event) => this.handleKey(event));
    this.connection = new Connection(
      socketUrl(`/ws/sessions/${encodeURIComponent(place.sessionId)}/terminals/${place.id}`),
      {
        onOpen: () => {
          this.isNew = true;
          this.formatSize(true);
        },
        onBinary: (bytes) => this.show(new Uint8Array(bytes)),
        onLost: (status) => status !== GONE && isAlive(),
      },
    );
    this.screen.onData((text) => this.connection.send(encoder.encode(text)));
    this.screen.onBinary((text) => this.connection.send(Uint8Array.from(text, (char) => char.charCodeAt(0))));
  }

  /** Adopts the size of the element, if it is visible. */
  fit(): void {
    const wanted = this.fitter.proposeDimensions();
    if (wanted === undefined || !(wanted.cols > 1) || !(wanted.rows > 0)) return;
    this.screen.resize(wanted.cols, wanted.rows);
    this.formatSize(false);
  }

  retheme(element: HTMLElement): void {
    this.screen.options.theme = themeOf(element);
  }

  /** All that it has shown and still keeps, without the empty lines at its end. */
  text(): string {
    const { active } = this.screen.buffer;
    let text = "";
    for (let row = 0; row < active.length; row += 1) {
      const line = active.getLine(row);
      if (line === undefined) continue;
      // A long line goes on in the next row.
      if (row > 0 && !line.isWrapped) text += "\n";
      text += line.translateToString(!(active.getLine(row + 1)?.isWrapped ?? false));
    }
    return `${text.trimEnd()}\n`;
  }

  copy(): Promise<void> {
    const text = this.screen.getSelection();
    return text === "" ? Promise.resolve() : navigator.clipboard.writeText(text);
  }

  async paste(): Promise<void> {
    this.screen.paste(await navigator.clipboard.readText());
    this.screen.focus();
  }

  dispose(): void {
    this.connection.close();
    this.screen.dispose();
  }

  private show(bytes: Uint8Array): void {
    if (this.isNew) this.screen.reset();
    this.isNew = false;
    this.screen.write(bytes);
  }

  private formatSize(always: boolean): void {
    const { rows, cols: columns } = this.screen;
    if (!always && rows === this.size.rows && columns === this.size.columns) return;
    this.size = { rows, columns };
    this.connection.send(JSON.stringify(this.size));
  }

  /** Ctrl+Shift+C and V copy and paste; Ctrl+Shift+E leaves, since the shell handles Tab. */
  private handleKey(event: KeyboardEvent): boolean {
    if (event.type !== "keydown" || !event.ctrlKey || !event.shiftKey) return true;
    if (event.code === "KeyC") void this.copy().catch(() => undefined);
    else if (event.code === "KeyE") {
      this.screen.blur();
      window.document.getElementById("dock-tab-terminals")?.focus();
    } else if (event.code !== "KeyV") return true;
    // The browser itself pastes at Ctrl+Shift+V, without asking for permission.
    if (event.code !== "KeyV") event.preventDefault();
    return false;
  }
}

function themeOf(element: HTMLElement): ITheme {
  const colour = (name: string) => resolveColour(element, `var(${name})`);
  return {
    background: colour("--bg"),
    foreground: colour("--fg"),
    cursor: colour("--accent"),
    cursorAccent: colour("--bg"),
    selectionBackground: colour("--terminal-selection"),
    red: colour("--bad"),
    brightRed: colour("--bad"),
    green: colour("--good"),
    brightGreen: colour("--good"),
    yellow: colour("--warn"),
    brightYellow: colour("--warn"),
    blue: colour("--series-0"),
    brightBlue: colour("--series-0"),
    magenta: colour("--series-3"),
    brightMagenta: colour("--series-3"),
    cyan: colour("--series-2"),
    brightCyan: colour("--series-2"),
    black: colour("--fg"),
    brightBlack: colour("--fg-dim"),
    white: colour("--fg-dim"),
    brightWhite: colour("--fg"),
  };
}
