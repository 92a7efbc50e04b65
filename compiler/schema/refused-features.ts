/** Hint for CONNECT on listeners. */
export const TUNNELS_INSTEAD =
  "clients open tunnels to a `dynamic` backend with `connect: {}`, on any HTTP listener";

/** Hint for tunnels of a mesh without sidecars. */
export const HBONE_INSTEAD =
  "end tunnels before the gateway; in a cluster, give pods sidecars and GatewayParameters `mesh: {}`";
