import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/**
 * Puts the one script and the one style sheet of the build into the page itself, so that the report is a single
 * file that opens from disk. Fails the build if anything would still have to be loaded.
 */
function inlineEverything(): Plugin {
  return {
    name: "inline-everything",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["report.html"];
      if (page?.type !== "asset")
        this.error("expected report.html among the outputs; check rollupOptions.input");
      let html = String(page.source);
      for (const [name, output] of Object.entries(bundle)) {
        if (output.type === "chunk") {
          // The text must not end the script element that carries it.
          const code = output.code
            .trim()
            .replace(/<\/(script)/gi, "<\\/$1")
            .replace(/<!--/g, "<\\!--");
          html = html.replace(new RegExp(`\\s*<script[^>]*src="[^"]*${name}"[^>]*></script>`), "");
          html = html.replace("</body>", () => `<script type="module">${code}</script>\n</body>`);
        } else if (name.endsWith(".css")) {
          html = html.replace(
            new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`),
            () => `<style>${String(output.source).trim()}</style>`,
          );
        } else {
          continue;
        }
        delete bundle[name];
      }
      if (
        /<(script|link|img)[^>]*\s(src|href)=/.test(
          html.replace(/<script type="module">[\s\S]*<\/script>/, ""),
        )
      ) {
        this.error("something in report.html still has to be loaded; the page must be one file");
      }
      page.source = html;
    },
  };
}

/** The report: one file. */
const report = {
  plugins: [inlineEverything()],
  build: {
    outDir: "../crates/report/page",
    emptyOutDir: true,
    rollupOptions: { input: "report.html" },
  },
};

/** The site: a page, a script and a style sheet of fixed names, which the command takes in. */
const site = {
  plugins: [],
  build: {
    outDir: "../crates/site/app",
    emptyOutDir: true,
    rollupOptions: {
      input: "site.html",
      output: { entryFileNames: "site.js", assetFileNames: "site.[ext]" },
    },
  },
};

export default defineConfig(({ mode }) => {
  const { plugins, build } = mode === "site" ? site : report;
  return {
    base: "./",
    plugins,
    build: { target: "es2020", modulePreload: false, cssCodeSplit: false, ...build },
    test: { include: ["test/**/*.test.ts"] },
  };
});
