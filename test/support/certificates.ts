import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A private key and the certificate of its public one, in PEM: what `tls.createServer` takes. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateOptions {
  /** DNS name the certificate is for. */
  readonly host: string;
  readonly from?: Date;
  readonly until?: Date;
}

export interface Authority {
  /** Its own certificate, for those who are to trust it. */
  readonly cert: string;
  issue(options: CertificateOptions): Identity;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Makes certificates when a test needs them: none lies in the repository, and none runs out there. */
export function makeAuthority(): Authority {
  const issuer = { name: 'Test Authority', ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
  return {
    cert: certificate({ host: issuer.name, subject: issuer.publicKey, issuer, isAuthority: true }),
    issue(options) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return { key: pem(privateKey), cert: certificate({ ...options, subject: publicKey, issuer }) };
    },
  };
}

/** A self-signed certificate. */
export function selfSigned(options: CertificateOptions): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = { name: options.host, privateKey };
  return { key: pem(privateKey), cert: certificate({ ...options, subject: publicKey, issuer }) };
}

interface Certified extends CertificateOptions {
  readonly subject: KeyObject;
  readonly issuer: { readonly name: string; readonly privateKey: KeyObject };
  readonly isAuthority?: boolean;
}

/** RFC 5280 §4.1. */
function certificate({ host, from, until, subject, issuer, isAuthority = false }: Certified): string {
  const now = Date.now();
  const toBeSigned = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    distinguishedName(issuer.name),
    sequence(time(from ?? new Date(now - DAY_MS)), time(until ?? new Date(now + DAY_MS))),
    distinguishedName(host),
    subject.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isAuthority ? basicConstraints() : subjectAltName(host))),
  );
  const signature = sign('sha256', toBeSigned, issuer.privateKey);
  const bytes = sequence(toBeSigned, ECDSA_WITH_SHA256, der(0x03, Buffer.of(0), signature));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents);
const integer = (bytes: Buffer): Buffer => der(0x02, bytes);
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));

const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'));

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(commonName)))));
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`));
}

function basicConstraints(): Buffer {
  return sequence(
    objectId('551d13'),
    der(0x01, Buffer.of(0xff)),
    der(0x04, sequence(der(0x01, Buffer.of(0xff)))),
  );
}

function subjectAltName(host: string): Buffer {
  return sequence(objectId('551d11'), der(0x04, sequence(der(0x82, Buffer.from(host)))));
}
