import type { ReasoningBlock } from "../chat/content.ts";

/** An encrypted reasoning item of the Responses API. */
export interface EncryptedReasoning {
  readonly id: string;
  /** `encrypted_content`, which only the server that wrote it can read. */
  readonly content: string;
}

/**
 * Returns the signature of encrypted reasoning of the Responses API. Clients receive it in place of other providers'
 * signatures and send it back unchanged; other providers refuse it.
 */
export function markEncrypted({ id, content }: EncryptedReasoning): string {
  return `${MARK}${id}:${content}`;
}

/**
 * Returns the items of a client's reasoning, whose signatures clients join if they follow each other. Empty if another
 * provider signed it.
 */
export function encryptedReasoning({
  signature = "",
}: Pick<ReasoningBlock, "signature">): readonly EncryptedReasoning[] {
  if (!isMarked(signature)) return [];
  const items = signature.slice(MARK.length).split(MARK);
  return items.map((item) => {
    const [id = "", ...content] = item.split(":");
    return { id, content: content.join(":") };
  });
}

/** Whether a signature belongs to encrypted reasoning of the Responses API. */
export function isMarked(signature: string): boolean {
  return signature.startsWith(MARK);
}

const MARK = "openai:";
