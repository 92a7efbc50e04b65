import { UserAgent } from "../harness/user-agent.ts";

/** A browser with these cookies of a site. */
export function withCookies(site: string, cookies: ReadonlyMap<string, string>): UserAgent {
  const agent = new UserAgent();
  for (const [name, value] of cookies) agent.cookies(site).set(name, value);
  return agent;
}
