import { type Diagnostic, Diagnostics } from "../../../diagnostics/diagnostic.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import { type LookedUp, RecordedLookups } from "./recorded-lookups.ts";

/** Services needed to read a manifest. */
interface ReadingContext extends LookedUp {
  readonly diagnostics: Diagnostics;
}

/** The result of reading a manifest, with its diagnostics. */
export interface ManifestReading<Value> {
  readonly value: Value;
  readonly diagnostics: readonly Diagnostic[];
}

/** A reading and what it depends on. */
interface CachedReading<Value> extends ManifestReading<Value> {
  readonly lookups: RecordedLookups;
}

/**
 * Caches what was read from manifests, by a name for each: a reading is repeated when the manifest changed, or anything
 * that was looked up for it.
 */
export class CachedReadings<Value> {
  readonly #known: WeakMap<Manifest, Map<string, CachedReading<Value>>> = new WeakMap();

  /** Returns what is read from a manifest. `isValid` checks what the reading depends on besides its lookups. */
  of<Context extends ReadingContext>(
    manifest: Manifest,
    name: string,
    context: Context,
    read: (context: Context) => Value,
    isValid: (value: Value) => boolean = () => true,
  ): ManifestReading<Value> {
    const ofManifest = this.#known.get(manifest) ?? new Map<string, CachedReading<Value>>();
    this.#known.set(manifest, ofManifest);
    const known = ofManifest.get(name);
    if (known !== undefined && isValid(known.value) && known.lookups.isCurrent(context))
      return known;
    const lookups = new RecordedLookups();
    const diagnostics = new Diagnostics();
    const value = read({ ...lookups.of(context), diagnostics });
    const reading = { value, diagnostics: diagnostics.list, lookups };
    ofManifest.set(name, reading);
    return reading;
  }
}
