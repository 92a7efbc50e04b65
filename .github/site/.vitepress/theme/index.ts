import { useData } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { nextTick, onMounted, watch } from "vue";
import "./style.css";

/** The start page of the default theme has no main landmark, so screen readers could not skip to its content. */
function markMain(isHome: boolean): void {
  const content = document.getElementById("VPContent");
  if (isHome) content?.setAttribute("role", "main");
  else content?.removeAttribute("role");
}

export default {
  extends: DefaultTheme,
  setup() {
    const { frontmatter } = useData();
    const update = () => nextTick(() => markMain(frontmatter.value.layout === "home"));
    onMounted(update);
    watch(() => frontmatter.value.layout, update);
  },
};
