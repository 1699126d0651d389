/** Serves a directory as `steelyard serve` and other web servers do, with its policy. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, normalize } from "node:path";

const TYPES = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  json: "application/json",
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The address of a directory's files, below a folder as on many servers; and how to stop. */
export async function serving(directory, folder = "/team/site/") {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const inside = path.startsWith(folder) ? path.slice(folder.length) || "index.html" : "..";
    const file = normalize(join(directory, inside));
    const content = await (file.startsWith(directory) ? readFile(file) : Promise.reject()).catch(
      () => null,
    );
    const type = TYPES[file.split(".").pop()] ?? "text/plain";
    response.writeHead(content === null ? 404 : 200, {
      "content-type": `${type}; charset=utf-8`,
      "content-security-policy": POLICY,
    });
    response.end(content ?? "not there");
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  const stop = () =>
    new Promise((done) => {
      server.close(done);
      server.closeAllConnections();
    });
  return { address: `http://127.0.0.1:${port}${folder}`, stop };
}
