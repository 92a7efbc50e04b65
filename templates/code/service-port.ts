/** Returns the port of an address of metrics or readiness; `undefined` if it is `off`. */
export function servicePort(address: string): number | undefined {
  return address === "off" ? undefined : Number(address.slice(address.lastIndexOf(":") + 1));
}
