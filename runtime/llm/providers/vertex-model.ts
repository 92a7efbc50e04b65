/** Returns the name of a model in paths of Vertex AI: without its publisher, and with `@` before a date. */
export function vertexModel(model: string): string {
  const name = model.replace(
    /^(?:publishers\/[^/]+\/)?(?:models\/)?(?:(?:google|anthropic)\/)?/,
    "",
  );
  return name.startsWith("claude-") ? name.replace(/-(\d{8})$/, "@$1") : name;
}
