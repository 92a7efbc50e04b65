import type { ConfigPath, Diagnostic, Origin } from "../diagnostics/diagnostic.ts";
import { type MessageCode, messageOf } from "../diagnostics/messages/index.ts";
import type { Manifest } from "../manifests/manifests.ts";

/** Whether parts inside a place were removed or replaced because of mistakes, other than in the fields `besides`. */
export function isPartial(
  { path }: Origin,
  { broken }: { readonly broken: readonly ConfigPath[] },
  besides: ConfigPath = [],
): boolean {
  let place: BrokenPlace | undefined = rootOf(broken);
  for (const step of path) place = place?.inside.get(step);
  if (place === undefined) return false;
  return place.isBroken || place.inside.keys().some((field) => !besides.includes(field));
}

/** Input that may have mistakes: a file, or manifests with placeholders. */
export interface MistakenInput {
  readonly origin?: Origin;
  readonly broken?: readonly ConfigPath[];
  readonly isUnknownName?: (path: ConfigPath) => boolean;
  /** Whether parts of manifests with mistakes are marked, so that what follows from them can be told. */
  readonly isMarked?: boolean;
  readonly manifests?: readonly Pick<Manifest, "kind" | "origin" | "broken" | "isPartial">[];
}

/** Returns whether a diagnostic follows from a mistake that was reported when the input was parsed. */
export function followUpsOf(
  input: MistakenInput,
): (found: Pick<Diagnostic, "at" | "code">) => boolean {
  const { origin, broken = [], isUnknownName } = input;
  if (input.isMarked === true) return followUpsOfManifests(input.manifests ?? []);
  return (found) =>
    isAboutBroken(found, { origin, broken }) ||
    (IDLE.has(found.code) && broken.length > 0) ||
    isBrokenAt(ABSENT[found.code] ?? [], broken) ||
    (REFERENCES.has(found.code) && isUnknownName?.(found.at.path) === true);
}

/** Messages about references to nothing. */
const REFERENCES: ReadonlySet<MessageCode> = new Set([
  "missing-reference",
  "bad-tool-view",
  "unknown-shared-provider",
  "unknown-virtual-target",
]);

/** Messages about an object of which fields are missing or unknown: what it refers to is then unknown, too. */
const OF_FIELDS: ReadonlySet<MessageCode> = new Set(["missing-field", "wrong-reference-kind"]);

/** Messages about a part that other parts of the same item can cause. */
const IN_ITEM: ReadonlySet<MessageCode> = new Set(["tls-missing", "tls-unused", "never-reached"]);

/** The place in a file whose absence a message reports. */
const ABSENT: Readonly<Partial<Record<MessageCode, ConfigPath>>> = {
  "acme-without-account": ["config", "acme"],
  "spiffe-without-source": ["config", "spiffe"],
};

/** Messages about a part without a use, which may be in a part with mistakes. */
const IDLE: ReadonlySet<MessageCode> = new Set(["idle-keys-api", "idle-store"]);

/** Messages about a resource that a mistake in another one can cause: its Gateway, its parameters, or its routes. */
const OF_OTHERS: ReadonlySet<MessageCode> = new Set([
  ...IDLE,
  "store-of-pods",
  "limit-of-each-pod",
  "connection-without-user",
  "spiffe-without-source",
  "misplaced-field",
]);

function followUpsOfManifests(
  manifests: NonNullable<MistakenInput["manifests"]>,
): (found: Pick<Diagnostic, "at" | "code">) => boolean {
  const parts = manifests.filter((each) => each.isPartial);
  const merged = new Map(
    [...Map.groupBy(parts, (each) => documentKey(each.origin))].map(([key, all]) => [
      key,
      all.flatMap((each) => each.broken),
    ]),
  );
  return (found) => {
    if (OF_OTHERS.has(found.code)) return true;
    const broken = merged.get(documentKey(found.at)) ?? [];
    const item = found.at.path.findIndex((step) => typeof step === "number");
    return (
      isAboutBroken(found, { origin: found.at, broken }) ||
      (IN_ITEM.has(found.code) &&
        isPartial({ ...found.at, path: found.at.path.slice(0, item + 1) }, { broken }))
    );
  };
}

function isBrokenAt(path: ConfigPath, broken: readonly ConfigPath[]): boolean {
  return broken.some(
    (each) => each.length > 0 && each.every((step, index) => path[index] === step),
  );
}

function documentKey({ file, document }: Origin): string {
  return `${document} ${file}`;
}

/**
 * Whether a diagnostic follows from a mistake that was reported before: it is about a part that was removed or replaced, or
 * about an object with such fields.
 */
function isAboutBroken(
  { at, code }: Pick<Diagnostic, "at" | "code">,
  {
    origin,
    broken = [],
  }: { readonly origin: Origin | undefined; readonly broken: readonly ConfigPath[] | undefined },
): boolean {
  if (broken.length === 0 || at.file !== origin?.file || at.document !== origin.document)
    return false;
  let place: BrokenPlace | undefined = rootOf(broken);
  let owner: BrokenPlace | undefined;
  for (const step of at.path) {
    if (place?.isBroken === true) return true;
    owner = place;
    place = place?.inside.get(step);
  }
  if (place?.isBroken === true) return true;
  // A warning about an object is about its fields.
  const isOfFields = OF_FIELDS.has(code) || messageOf(code).severity !== "error";
  const object = code === "missing-reference" ? owner : isOfFields ? place : undefined;
  return object?.inside.values().some(({ isBroken }) => isBroken) === true;
}

/** A place that was removed or replaced, or that contains one. */
interface BrokenPlace {
  isBroken: boolean;
  readonly inside: Map<ConfigPath[number], BrokenPlace>;
}

/** Cached trees of broken places: a file may have as many mistakes as lines, and each of its parts is looked up. */
const roots = new WeakMap<readonly ConfigPath[], BrokenPlace>();

function rootOf(broken: readonly ConfigPath[]): BrokenPlace {
  const known = roots.get(broken);
  if (known !== undefined) return known;
  const root: BrokenPlace = { isBroken: false, inside: new Map() };
  for (const path of broken) {
    let place = root;
    for (const step of path) {
      const next = place.inside.get(step) ?? { isBroken: false, inside: new Map() };
      place.inside.set(step, next);
      place = next;
    }
    place.isBroken = true;
  }
  roots.set(broken, root);
  return root;
}
