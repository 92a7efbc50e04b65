/** Returns the family of a model id, inference profile or ARN, if requests differ by it. */
export function modelFamily(model: string): "claude" | "nova" | undefined {
  if (/(?:^|[./:])anthropic\.claude/.test(model)) return "claude";
  return /(?:^|[./:])amazon\.nova/.test(model) ? "nova" : undefined;
}

/** Whether a model accepts cache points: Claude 3 and later, and Nova. */
export function takesCachePoints(model: string): boolean {
  return (
    modelFamily(model) !== undefined && !/anthropic\.claude-(?:instant|v[12](?!\d))/.test(model)
  );
}
