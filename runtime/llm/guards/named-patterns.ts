import { compilePattern } from "../../cel/functions/pattern.ts";
import { Search, type SearchSettings } from "../../patterns/search.ts";
import type { GuardPattern } from "./pattern-guard.ts";

/** Matches social security numbers of the United States, except for areas that are never assigned. */
export function ssn(): GuardPattern {
  return namedPattern("<SSN>", () => ({
    pattern: compilePattern(
      "[0-9]{3}(?:-[0-9]{2}-|\\.[0-9]{2}\\.| [0-9]{2} )[0-9]{4}|[0-9]{5}-[0-9]{4}|[0-9]{3}-[0-9]{6}|[0-9]{9}",
    ),
    longest: 11,
    isValid: (match, before, after) => {
      const area = Number(match.slice(0, 3));
      return isApart(before, after) && area > 0 && area !== 666 && area < 900;
    },
  }));
}

/** Matches payment card numbers with a valid check digit. */
export function creditCard(): GuardPattern {
  return namedPattern("<CREDIT_CARD>", () => ({
    pattern: compilePattern("[1-6][0-9]{3}[ -]?[0-9]{3,4}[ -]?[0-9]{3,4}[ -]?[0-9]{3,7}"),
    longest: 22,
    isValid: (match, before, after) => isApart(before, after) && hasCheckDigit(match),
  }));
}

/** Matches social insurance numbers of Canada with a valid check digit. */
export function caSin(): GuardPattern {
  return namedPattern("<CA_SIN>", () => ({
    pattern: compilePattern("[1-79][0-9]{2}(?:[- ][0-9]{3}[- ]|[0-9]{3})[0-9]{3}"),
    longest: 11,
    isValid: (match, before, after) => isApart(before, after) && hasCheckDigit(match),
  }));
}

/** Matches email addresses. */
export function email(): GuardPattern {
  return namedPattern("<EMAIL_ADDRESS>", () => ({
    pattern: compilePattern(
      "[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9-]{1,63}\\.){1,3}[A-Za-z]{2,24}",
    ),
    longest: 281,
  }));
}

/** Matches phone numbers: with a country code, in North American form, or with a leading zero or parentheses. */
export function phoneNumber(): GuardPattern {
  return namedPattern("<PHONE_NUMBER>", () => ({
    pattern: compilePattern(
      "\\+[0-9]{1,3}[ .-]?(?:\\([0-9]{1,4}\\)[ .-]?)?[0-9]{1,4}(?:[ .-]?[0-9]{2,4}){2,4}|" +
        "(?:1[ .-]?)?(?:\\([2-9][0-9]{2}\\) ?|[2-9][0-9]{2}[ .-]?)[2-9][0-9]{2}[ .-]?[0-9]{4}|" +
        "\\(0?[0-9]{2,5}\\)[ .-]?[0-9]{3,5}[ .-]?[0-9]{3,5}|" +
        "0[0-9]{1,4}[ ./-][0-9]{3,4}[ .-]?[0-9]{3,6}",
    ),
    longest: 38,
    isValid: (_match, before, after) => isApart(before, after),
  }));
}

/** Shares patterns within the process, because their automata are large. */
function namedPattern(mask: string, settingsOf: () => SearchSettings): GuardPattern {
  const known = patterns.get(mask);
  if (known !== undefined) return known;
  const made = { search: new Search(settingsOf()), mask };
  patterns.set(mask, made);
  return made;
}

const patterns = new Map<string, GuardPattern>();

/** Whether a match is not part of a longer number. */
function isApart(before: string, after: string): boolean {
  return !/[0-9]/.test(before) && !/[0-9]/.test(after);
}

/** ISO/IEC 7812-1 annex B (Luhn). */
function hasCheckDigit(number: string): boolean {
  const digits = number.replace(/[^0-9]/g, "");
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits.length >= 9 && sum % 10 === 0;
}
