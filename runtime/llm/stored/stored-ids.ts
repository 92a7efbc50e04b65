import { createCipheriv, createHash, createHmac } from "node:crypto";
import { type SessionKeys, unsealSession } from "../../process/session-seal.ts";

/** Kind of a file: of OpenAI, or of Anthropic. */
export type FileKind = "file-" | "file_";

/** Kind of an object that a provider stores, which is also the start of its ids. */
export type StoredKind =
  | FileKind
  | ContainerKind
  | "batch_"
  | "msgbatch_"
  | "resp_"
  | "conv_"
  | typeof RESPONSE_ITEM;

/** Kind of the items of a response: their ids start with a word for the type of the item. */
export const RESPONSE_ITEM = "item";

/** Kind of a container in which programs run: of OpenAI, or of Anthropic. */
type ContainerKind = "cntr_" | "container_";

/** Owner of ids: the caller to whom they are given, and the keys that seal them. */
export interface IdOwner {
  readonly keys: SessionKeys;
  readonly caller: string;
}

/** Place of a stored object. */
export interface StoredPlace {
  /** Name and authority of the provider that stores it. */
  readonly provider: string;
  readonly authority: string;
  /** Its id there. */
  readonly id: string;
}

/**
 * Returns the id of a stored object for its owner. The provider's own id is encrypted in it (AES-256-GCM). Nobody else can
 * use it, because the owner is part of what is authenticated. The same object always has the same id, as clients compare ids:
 * the nonce is derived from the content, like in SIV modes.
 */
export function sealId(owner: IdOwner, kind: StoredKind, place: StoredPlace): string {
  const state = JSON.stringify([place.provider, place.authority, place.id]);
  const aad = binding(owner, kind);
  const [key] = owner.keys;
  const nonce = createHmac("sha256", key).update(`nonce ${aad}\n${state}`).digest();
  const cipher = createCipheriv("aes-256-gcm", key, nonce.subarray(0, NONCE_LENGTH));
  cipher.setAAD(Buffer.from(aad));
  const sealed = [nonce.subarray(0, NONCE_LENGTH), cipher.update(state), cipher.final()];
  const bytes = Buffer.concat([...sealed, cipher.getAuthTag()]);
  return startOf(kind, place.id) + bytes.toString("base64url");
}

/** Returns the place of an object; `undefined` if the id is not one of this kind that its owner was given. */
export function openId(owner: IdOwner, kind: StoredKind, id: string): StoredPlace | undefined {
  const start = startOf(kind, id);
  if (!id.startsWith(start)) return undefined;
  const state = unsealSession(owner.keys, binding(owner, kind), id.slice(start.length));
  if (state === undefined) return undefined;
  const [provider, authority, own]: string[] = JSON.parse(state);
  if (provider === undefined || authority === undefined || own === undefined) return undefined;
  return { provider, authority, id: own };
}

/**
 * Returns an id that no object has, for the id of an item that the gateway did not give. It is always the same for an id, as
 * other items may refer to it.
 */
export function unknownItem(id: string): string {
  return (
    startOf(RESPONSE_ITEM, id) + createHash("sha256").update(id).digest("hex").slice(0, ID_LENGTH)
  );
}

/** Length of the ids of items at OpenAI, without their start. */
const ID_LENGTH = 48;

/** Returns the start of the ids of an object. */
function startOf(kind: StoredKind, id: string): string {
  return kind === RESPONSE_ITEM ? (/^[a-z]{1,8}_/.exec(id)?.[0] ?? "item_") : kind;
}

const NONCE_LENGTH = 12;

function binding({ caller }: IdOwner, kind: StoredKind): string {
  return `llm ${kind} ${caller}`;
}
