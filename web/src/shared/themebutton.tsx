/** The button that changes between the system's theme, light and dark. */

import { useState } from "preact/hooks";
import { chooseTheme, type ThemeChoice, themeChoice } from "./theme";

const NEXT: Record<ThemeChoice, ThemeChoice> = { auto: "light", light: "dark", dark: "auto" };

export function ThemeButton() {
  const [choice, setChoice] = useState(themeChoice());
  const change = (): void => {
    chooseTheme(NEXT[choice]);
    setChoice(NEXT[choice]);
  };
  return (
    <button
      type="button"
      class="quiet"
      data-control="theme"
      aria-label={`Theme: ${choice}. Change to ${NEXT[choice]}`}
      onClick={change}>
      theme: {choice}
    </button>
  );
}
