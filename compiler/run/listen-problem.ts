/** Why a port could not be opened, in words. */
export function listenProblem(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") return "the port is in use";
  return error instanceof Error ? error.message : String(error);
}
