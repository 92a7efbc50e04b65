declare module "apache-md5" {
  /** Returns the `$apr1$` hash of a password with the salt of another hash. */
  const apacheMd5: (password: string, salt: string) => string;
  export = apacheMd5;
}
