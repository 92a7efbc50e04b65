// Templates know backends by these names; the list of backends is the compiler's.
export type { BackendKind, BackendNode, TcpBackendNode } from "../backends/index.ts";
