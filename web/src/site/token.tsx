/** Asking for a token, which a service takes for what is more than reading. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** Sends a request with a token; true if it was granted, and what the service said. */
async function send(
  path: string,
  token: string,
  body: object | null,
): Promise<{ granted: boolean; text: string }> {
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (body !== null) headers["content-type"] = "application/json";
  try {
    const text = body === null ? null : JSON.stringify(body);
    // Without what the browser knows, it does not ask for a password by itself.
    const options: RequestInit = { method: "POST", headers, body: text, credentials: "omit" };
    const answer = await fetch(path, options);
    return { granted: answer.ok, text: (await answer.text()).trim() };
  } catch {
    return { granted: false, text: "The service does not answer." };
  }
}

interface FormProps {
  /** What it is for, for those who do not see it. */
  name: string;
  /** The word on its button. */
  verb: string;
  /** Where it is sent, and what. */
  path: string;
  body: object | null;
  onGranted?: () => void;
  children?: ComponentChildren;
}

/** A form that is hidden until somebody wants it, with a field for a token at its end. */
export function TokenForm({ name, verb, path, body, onGranted, children }: FormProps) {
  const [asking, setAsking] = useState(false);
  const [token, setToken] = useState("");
  const [said, setSaid] = useState("");
  const [sending, setSending] = useState(false);
  if (!asking) {
    return (
      <button type="button" class="quiet" onClick={() => setAsking(true)}>
        {name}
      </button>
    );
  }
  return (
    <form
      class="asking"
      aria-label={name}
      onSubmit={(event) => {
        event.preventDefault();
        setSending(true);
        setSaid("");
        void send(path, token.trim(), body).then(({ granted, text }) => {
          setSending(false);
          setSaid(text);
          if (granted) onGranted?.();
        });
      }}>
      {children}
      <label>
        Token{" "}
        <input
          type="password"
          autocomplete="off"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={sending}>
        {verb}
      </button>
      <button type="button" class="quiet" onClick={() => setAsking(false)}>
        cancel
      </button>
      <span role="status">{said}</span>
    </form>
  );
}
