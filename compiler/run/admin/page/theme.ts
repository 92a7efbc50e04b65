/** Colors of the page: those of the system, or chosen by the reader. */
export type Theme = "system" | "light" | "dark";

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const STORED = "gwc-theme";

/** Returns the reader's choice. */
export function chosenTheme(): Theme {
  try {
    return THEMES.find((each) => each === localStorage.getItem(STORED)) ?? "system";
  } catch {
    return "system";
  }
}

/** Sets and remembers a choice. */
export function chooseTheme(theme: Theme): void {
  try {
    localStorage.setItem(STORED, theme);
  } catch {
    // A browser may forbid it; the choice then lasts as long as the page.
  }
  document.documentElement.dataset.theme = theme;
}

/** Applies the remembered choice. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = chosenTheme();
}
