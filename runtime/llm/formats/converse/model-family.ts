/** Whose model an id, an inference profile or an ARN names, as far as requests differ by it. */
export function modelFamily(model: string): "claude" | "nova" | undefined {
  if (/(?:^|[./:])anthropic\.claude/.test(model)) return "claude";
  return /(?:^|[./:])amazon\.nova/.test(model) ? "nova" : undefined;
}

/** Whether a model takes cache points: Claude from 3 on, and Nova. */
export function takesCachePoints(model: string): boolean {
  return (
    modelFamily(model) !== undefined && !/anthropic\.claude-(?:instant|v[12](?!\d))/.test(model)
  );
}
