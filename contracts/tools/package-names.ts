// Which package provides a module, if their names differ. Pure data.

/** A module that the code imports unconditionally. */
export interface CodeImport {
  /** As the code names it. */
  module: string;
  /** Counted from 1. */
  line: number;
}

/** A missing import, and the package that provides it. */
export interface MissingPackage extends CodeImport {
  package: string;
}

/** Python modules whose PyPI package has another name; a dotted name takes precedence over its first part. */
export const PYTHON_PACKAGES: Readonly<Record<string, string>> = {
  Bio: 'biopython',
  Crypto: 'pycryptodome',
  Cryptodome: 'pycryptodomex',
  IPython: 'ipython',
  Levenshtein: 'python-Levenshtein',
  MySQLdb: 'mysqlclient',
  OpenGL: 'PyOpenGL',
  OpenSSL: 'pyOpenSSL',
  PIL: 'Pillow',
  Xlib: 'python-xlib',
  absl: 'absl-py',
  attr: 'attrs',
  bs4: 'beautifulsoup4',
  can: 'python-can',
  cairo: 'pycairo',
  community: 'python-louvain',
  consul: 'python-consul',
  cv2: 'opencv-python',
  dateutil: 'python-dateutil',
  dbus: 'dbus-python',
  decouple: 'python-decouple',
  discord: 'discord.py',
  dns: 'dnspython',
  docx: 'python-docx',
  dotenv: 'python-dotenv',
  engineio: 'python-engineio',
  faiss: 'faiss-cpu',
  fitz: 'PyMuPDF',
  flask_cors: 'Flask-Cors',
  flask_login: 'Flask-Login',
  flask_sqlalchemy: 'Flask-SQLAlchemy',
  flask_wtf: 'Flask-WTF',
  gi: 'PyGObject',
  git: 'GitPython',
  github: 'PyGithub',
  gitlab: 'python-gitlab',
  'google.cloud.bigquery': 'google-cloud-bigquery',
  'google.cloud.storage': 'google-cloud-storage',
  'google.generativeai': 'google-generativeai',
  'google.genai': 'google-genai',
  'google.oauth2': 'google-auth',
  'google.protobuf': 'protobuf',
  googleapiclient: 'google-api-python-client',
  haystack: 'haystack-ai',
  igraph: 'python-igraph',
  imblearn: 'imbalanced-learn',
  jenkins: 'python-jenkins',
  jose: 'python-jose',
  jwt: 'PyJWT',
  keystoneclient: 'python-keystoneclient',
  kafka: 'kafka-python',
  ldap: 'python-ldap',
  llama_cpp: 'llama-cpp-python',
  magic: 'python-magic',
  memcache: 'python-memcached',
  mpl_toolkits: 'matplotlib',
  nacl: 'PyNaCl',
  novaclient: 'python-novaclient',
  odf: 'odfpy',
  osgeo: 'GDAL',
  paho: 'paho-mqtt',
  pkg_resources: 'setuptools',
  pptx: 'python-pptx',
  psycopg2: 'psycopg2-binary',
  pythonjsonlogger: 'python-json-logger',
  pywt: 'PyWavelets',
  rest_framework: 'djangorestframework',
  ruamel: 'ruamel.yaml',
  serial: 'pyserial',
  sentence_transformers: 'sentence-transformers',
  skimage: 'scikit-image',
  sklearn: 'scikit-learn',
  skopt: 'scikit-optimize',
  slugify: 'python-slugify',
  smbus: 'smbus2',
  snappy: 'python-snappy',
  socketio: 'python-socketio',
  socks: 'PySocks',
  speech_recognition: 'SpeechRecognition',
  talib: 'TA-Lib',
  telegram: 'python-telegram-bot',
  tlz: 'toolz',
  umap: 'umap-learn',
  usb: 'pyusb',
  vlc: 'python-vlc',
  websocket: 'websocket-client',
  werkzeug: 'Werkzeug',
  win32api: 'pywin32',
  wx: 'wxPython',
  xdg: 'pyxdg',
  yaml: 'PyYAML',
  zmq: 'pyzmq',
};

/** The package that provides a module: the map's entry for its longest known prefix, or the name of its first part. */
export function packageOf(module: string, runtime: 'python' | 'nodejs'): string {
  if (runtime === 'nodejs') {
    const parts = module.split('/');
    return parts.slice(0, module.startsWith('@') ? 2 : 1).join('/');
  }
  const parts = module.split('.');
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join('.');
    const known = Object.hasOwn(PYTHON_PACKAGES, name) ? PYTHON_PACKAGES[name] : undefined;
    if (known !== undefined) return known;
  }
  return parts[0] ?? module;
}
