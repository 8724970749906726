// A tone when something begins to wait for a person: off until it is switched on, remembered by this browser.
import { effect, signal } from '@preact/signals';
import type { VNode } from 'preact';
import { inbox, keyOf } from '../api/overview';

const STORED = 'holdfast.sound';
const TONE_HZ = 660;
const TONE_S = 0.25;
const LOUDNESS = 0.15;

const isOn = signal(stored());
/** Browsers let a page be heard only after the person has touched it, as the switch is. */
let audio: AudioContext | undefined;

function stored(): boolean {
  try {
    return localStorage.getItem(STORED) === 'on';
  } catch {
    return false;
  }
}

export function SoundSwitch(): VNode {
  const change = (): void => {
    isOn.value = !isOn.value;
    try {
      localStorage.setItem(STORED, isOn.value ? 'on' : 'off');
    } catch {
      // Until the page is closed, then.
    }
    if (isOn.value) play();
  };
  return (
    <button
      class="plain"
      type="button"
      aria-pressed={isOn.value}
      title="Play a sound when something begins to wait"
      onClick={change}
    >
      Sound {isOn.value ? 'on' : 'off'}
    </button>
  );
}

/** What has waited before, so that only what is new is heard; null until the inbox is known. */
let known: Set<string> | null = null;

effect(() => {
  const items = inbox.value;
  if (items === null) return;
  const keys = items.map(keyOf);
  const isNew = known !== null && keys.some((key) => known?.has(key) === false);
  known = new Set(keys);
  if (isNew && isOn.peek()) play();
});

function play(): void {
  audio ??= new AudioContext();
  void audio.resume();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  const begin = audio.currentTime;
  tone.frequency.value = TONE_HZ;
  volume.gain.setValueAtTime(LOUDNESS, begin);
  // Fading out: an abrupt end is heard as a click.
  volume.gain.exponentialRampToValueAtTime(0.001, begin + TONE_S);
  tone.connect(volume).connect(audio.destination);
  tone.start(begin);
  tone.stop(begin + TONE_S);
}
