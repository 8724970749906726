// The page of `holdfast serve`. It knows only the HTTP API.
import { render } from 'preact';
import { signIn } from './api/signed-in';
import { Page } from './page';
import './style/base.css';
import './style/frame.css';
import './style/parts.css';
import './style/code.css';
import './style/agent.css';
import './style/files.css';
import './style/terminals.css';
import './style/plots.css';
import './style/time-line.css';

void signIn();
const root = document.getElementById('page');
if (root) render(<Page />, root);
