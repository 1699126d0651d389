/** The message when there is nothing to show. */

export function Problem({ title, text }: { title: string; text: string }) {
  return (
    <div class="problem" role="alert">
      <h1>{title}</h1>
      <p>{text}</p>
    </div>
  );
}
