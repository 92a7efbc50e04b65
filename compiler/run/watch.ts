import { type FSWatcher, realpathSync, statSync, watch } from "node:fs";
import path from "node:path";

/** Milliseconds without a further event before a change counts: editors write in several steps. */
const DEBOUNCE = 250;
/** Milliseconds between looks at the files themselves: some file systems (network, some container mounts) send no events. */
const POLL = 2000;

/**
 * Watches files by watching their folders, so that it sees every way in which a file changes: written in place, replaced
 * by a rename (editors), or switched by a symbolic link above it (Kubernetes swaps `..data` of a ConfigMap).
 */
export class FileWatch {
  readonly #changed: () => void;
  readonly #poll: NodeJS.Timeout;
  readonly #folders: Map<string, FSWatcher> = new Map();
  #files: readonly string[] = [];
  #seen = "";
  #timer: NodeJS.Timeout | undefined;

  /** `changed` is called when the content of a file may have changed, once for changes that come together. */
  constructor(changed: () => void) {
    this.#changed = changed;
    this.#poll = setInterval(() => this.#look(), POLL);
    this.#poll.unref();
  }

  /** Watches exactly these files from now on; they need not exist. Changes before this call are not reported. */
  follow(files: readonly string[]): void {
    this.#files = files.map((file) => path.resolve(file));
    this.#seen = this.#fingerprint();
    this.#watchFolders();
  }

  /** Watches nothing any more. */
  close(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#poll);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #watchFolders(): void {
    const wanted = new Set(this.#files.flatMap(foldersOf));
    for (const [folder, watcher] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of wanted) if (!this.#folders.has(folder)) this.#watchFolder(folder);
  }

  #watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#settle());
      watcher.on("error", () => this.#drop(folder, watcher));
      this.#folders.set(folder, watcher);
    } catch {
      // A folder that is not there, or a system out of watches: the poll sees its files.
    }
  }

  #drop(folder: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#folders.get(folder) === watcher) this.#folders.delete(folder);
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), DEBOUNCE);
  }

  #look(): void {
    const now = this.#fingerprint();
    if (now === this.#seen) return;
    this.#seen = now;
    this.#watchFolders();
    this.#changed();
  }

  /** Which file each path leads to, and when that was last written. */
  #fingerprint(): string {
    return this.#files.map(fingerprint).join("\n");
  }
}

function fingerprint(file: string): string {
  const facts = statSync(file, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? "none" : `${facts.dev} ${facts.ino} ${facts.size} ${facts.mtimeNs}`;
}

/** The folders in which something happens when the file changes: its own, and the one it really lies in. */
function foldersOf(file: string): string[] {
  try {
    return [path.dirname(file), path.dirname(realpathSync(file))];
  } catch {
    return [path.dirname(file)];
  }
}
