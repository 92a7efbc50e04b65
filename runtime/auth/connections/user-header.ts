/** Header that carries the user of a request to the wrapped server, which never receives it. */
export const USER_HEADER = "gwc-connection-user";
