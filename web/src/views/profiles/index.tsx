/** The profiles of the steps: flamegraphs that are unpacked when they are opened, and the tables
 * made of the same samples. */

import "./profiles.css";
import { useEffect, useState } from "preact/hooks";
import type { Page, PageFlame, PageProfile } from "#page";
import { stepLabel, variantName } from "../../data/page";
import { Scroll } from "../../shared/controls";
import { usePage, type View } from "../../shared/page";
import { TableView } from "../../shared/table";
import { Named } from "../../shared/variant";
import { count } from "../../text/format";
import { frameOf, heightOf, save, unpack } from "./flame";

function title(page: Page, flame: PageFlame): string {
  const name = variantName(page, flame.variant);
  return flame.base === undefined ? name : `${variantName(page, flame.base)} → ${name}`;
}

/** The flamegraph that is open. */
function Graph({ profile, flame }: { profile: PageProfile; flame: PageFlame }) {
  const page = usePage();
  /** Null while it is unpacked; undefined where that cannot be done. */
  const [file, setFile] = useState<string | null | undefined>(null);
  useEffect(() => {
    unpack(flame.svg).then(setFile, () => setFile(undefined));
  }, []);
  if (file === null) return null;
  if (file === undefined) {
    return (
      <p class="note">
        This browser cannot unpack flamegraphs (it lacks DecompressionStream). They are in the
        results directory under artifacts/profiles.
      </p>
    );
  }
  const name = title(page, flame);
  const about = `${stepLabel(page, { ...profile, name: profile.step })}, ${name}`;
  return (
    <>
      <p class="minor">
        {about}: {count(flame.samples, "sample")}. Click a function to zoom in, “Reset Zoom” to go
        back, Ctrl-F to search.{" "}
        <button
          type="button"
          class="quiet"
          onClick={() => save(file, `${profile.step}.${name.replace(/ → /, "-")}.svg`)}>
          save as SVG
        </button>
      </p>
      <Scroll name={`Flamegraph of ${about}`}>
        {/* In a frame of its own: its script sees nothing of the page. */}
        <iframe
          sandbox="allow-scripts allow-modals"
          title={`Flamegraph of ${about}`}
          height={heightOf(file)}
          srcdoc={frameOf(file)}
        />
      </Scroll>
    </>
  );
}

/** The flamegraphs of a step: one button each, and the one that is open. */
function Flames({ profile }: { profile: PageProfile }) {
  const page = usePage();
  const [open, setOpen] = useState<PageFlame | null>(null);
  const kinds = [
    { label: "flamegraph of", kind: "variant", difference: false },
    { label: "difference", kind: "difference", difference: true },
  ];
  return (
    <div>
      {kinds.map(({ label, kind, difference }) => {
        const flames = profile.flames.filter(({ base }) => (base !== undefined) === difference);
        if (flames.length === 0) return null;
        return (
          <div class="bar flame-bar">
            <span class="minor">{label}</span>
            {flames.map((flame) => (
              <button
                type="button"
                class="flame-choice"
                data-flame={kind}
                aria-pressed={flame === open}
                onClick={() => setOpen(flame === open ? null : flame)}>
                {difference ? title(page, flame) : <Named variant={flame.variant} />}
              </button>
            ))}
          </div>
        );
      })}
      <div class="flame">
        {open && <Graph key={profile.flames.indexOf(open)} profile={profile} flame={open} />}
      </div>
    </div>
  );
}

function Panel({ profile, first }: { profile: PageProfile; first: boolean }) {
  const { step, dop, tables } = profile;
  const [open, setOpen] = useState(first);
  const [opened, setOpened] = useState(first);
  const toggle = (opens: boolean): void => {
    setOpen(opens);
    setOpened(opened || opens);
  };
  return (
    <details
      class="profile"
      data-step={step}
      data-dop={dop}
      open={open}
      onToggle={(event) => toggle(event.currentTarget.open)}>
      <summary>
        <h3>{stepLabel(usePage(), { ...profile, name: step })}</h3>
      </summary>
      <div class="profile-body">
        {opened && (
          <>
            <Flames profile={profile} />
            {tables.map((table) => (
              <TableView table={table} />
            ))}
          </>
        )}
      </div>
    </details>
  );
}

function Profiles() {
  return (
    <>
      <p class="prose">
        Where the DBMS spent its time on the CPU, by samples of its call stacks that perf took
        outside of what is measured. In a difference the width is that of the variant; red functions
        have a larger share of the samples than in the base, blue ones a smaller one.
      </p>
      {usePage().profiles?.map((profile, place) => (
        <Panel profile={profile} first={place === 0} />
      ))}
    </>
  );
}

export const profiles: View = {
  id: "profiles",
  name: "Profiles",
  title: () => "Profiles",
  applies: (page) => (page.profiles?.length ?? 0) > 0,
  Body: Profiles,
};
