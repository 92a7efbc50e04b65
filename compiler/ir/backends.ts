// Templates use these names of backends; the list of backends belongs to the compiler.
export type { BackendKind, BackendNode, TcpBackendNode } from "../backends/index.ts";
