/** Whether a `host`, or a Host header without its port, is a loopback name. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\])$/i.test(host);
}
