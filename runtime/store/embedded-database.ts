import { chmodSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Returns the file of a state directory with the records of a gateway. */
export function databaseFile(stateDir: string, gateway: string): string {
  return join(stateDir, `${encodeURIComponent(gateway)}.store.sqlite`);
}

/** Milliseconds to wait for another process that is writing. */
const BUSY_TIMEOUT = 5000;

/**
 * Opens the database of a gateway, which other processes of the machine may have open: threads, an old process that drains,
 * `gwc keys`. Users of it create their tables (`CREATE TABLE IF NOT EXISTS`). Throws if the file cannot be used.
 *
 * @example
 * const database = openDatabase(databaseFile("/var/lib/gwc", "shop"));
 * database.exec("CREATE TABLE IF NOT EXISTS usage (day TEXT, tokens INTEGER)");
 */
export function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT });
  // SQLite creates its other files with the permissions of this one.
  chmodSync(file, 0o600);
  // A process that dies loses nothing; a machine that dies may lose the last commits, but never the file.
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  return database;
}
