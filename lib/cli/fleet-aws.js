// `millrace fleet files RUN --boxes`: the files that start a fleet on EC2, and what it costs.
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { optionsOf } from '../../settings.js'
import { OptionError } from '../base/errors.js'
import { clockTime, plainText } from '../base/units.js'
import { millraceVersion } from '../base/version.js'
import { typedLine } from '../options/command-line.js'
import { settingsOf } from '../options/read-settings.js'
import { writeFiles } from '../report/write-report.js'

// The CloudFormation template of a fleet on EC2: boxes, a control beside them, and three ends: each box shuts down when its run is over,
// at the latest after its time, and a schedule terminates all that are left.

/**
 * @typedef {object} AwsFleet
 * @property {string} run
 * @property {string} options of millrace write, the same for all boxes
 * @property {number} boxes
 * @property {string} type of instance
 * @property {boolean} spot
 * @property {number} minutes after which a box ends itself
 * @property {string} script user data of a box
 * @property {string} version of the package
 */

/** On demand, us-east-1, 2026, in dollars an hour. */
const prices = Object.freeze(
  /** @type {Record<string, number>} */ ({
    'c7g.large': 0.073,
    'c7g.2xlarge': 0.29,
    'c7gn.large': 0.125,
    't4g.small': 0.0168,
    't3.small': 0.0208,
  }),
)

/** Types of Graviton have a g behind their generation. @param {string} type */
const isArm = (type) => /^[a-z]+\d+g[a-z]*\./.test(type)
/** The control needs little. @param {string} type of the boxes */
const controlType = (type) => (isArm(type) ? 't4g.small' : 't3.small')

/** Dollars an hour on demand; null: the price is not known here. @param {Pick<AwsFleet, 'boxes' | 'type'>} fleet */
const hourly = ({ boxes, type }) => (type in prices ? boxes * prices[type] + prices[controlType(type)] : null)

/** @param {string} text @param {number} by */
const indented = (text, by) => text.replace(/^(?=.)/gm, ' '.repeat(by))

const words = /^[A-Za-z0-9][A-Za-z0-9 ._:,/=%@+-]*$/
/** Why options cannot be in a template, in words; null: they can. @param {readonly string[]} typed */
const optionsFault = (typed) => {
  const options = typed.join(' ')
  if (/(^|\s)--(password|sentinel-password|pass)\b/.test(options) || /:\/\/[^/\s]*:[^/\s]*@/.test(options))
    return 'a password is no part of a template: put it into the Parameter Store, and name it as PasswordParameter'
  // A box splits them at blanks.
  const isPlain = typed.every((word) => /^\S+$/.test(word)) && words.test(options.replace(/(^|\s)--?/g, '$1'))
  return isPlain ? null : 'options of the boxes have letters, digits, and . _ : , / = % @ + - only'
}

/** @param {AwsFleet} fleet */
const parameters = ({ type, boxes, run, version, minutes }) => `Parameters:
  Vpc:
    Type: AWS::EC2::VPC::Id
    Description: the VPC of the cache
  Subnet:
    Type: AWS::EC2::Subnet::Id
    Description: one of the cache's subnets; all boxes are in it, close to each other
  CacheSecurityGroup:
    Type: AWS::EC2::SecurityGroup::Id
    Description: the security group of the cache, which lets the boxes in
  CachePort:
    Type: Number
    Default: 6379
  Bucket:
    Type: String
    Description: an S3 bucket that has the package, and gets the results under ${run}/
  Package:
    Type: String
    Default: millrace-${version}.tgz
    Description: what npm pack makes, by its key in the bucket
  PasswordParameter:
    Type: String
    Default: ''
    Description: the password of the cache, by its name in the Parameter Store; empty for none, and for --iam
  EndsAt:
    Type: String
    AllowedPattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d$'
    Description: UTC; what still runs then is terminated. The boxes end themselves ${minutes} minutes after their start.
  Image:
    Type: AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>
    Default: /aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-${isArm(type) ? 'arm64' : 'x86_64'}
    Description: for ${boxes} instances of ${type}
`

const roles = (/** @type {string} */ run) => `  Placement:
    Type: AWS::EC2::PlacementGroup
    Properties:
      Strategy: cluster
  BoxSecurity:
    Type: AWS::EC2::SecurityGroup
    Properties:
      GroupDescription: Millrace boxes and their control
      VpcId: !Ref Vpc
  BetweenBoxes:
    Type: AWS::EC2::SecurityGroupIngress
    Properties:
      GroupId: !Ref BoxSecurity
      SourceSecurityGroupId: !Ref BoxSecurity
      IpProtocol: tcp
      FromPort: 6379
      ToPort: 6379
  IntoCache:
    Type: AWS::EC2::SecurityGroupIngress
    Properties:
      GroupId: !Ref CacheSecurityGroup
      SourceSecurityGroupId: !Ref BoxSecurity
      IpProtocol: tcp
      FromPort: !Ref CachePort
      ToPort: !Ref CachePort
  BoxRole:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument:
        Version: '2012-10-17'
        Statement:
          - Effect: Allow
            Principal: { Service: ec2.amazonaws.com }
            Action: sts:AssumeRole
      ManagedPolicyArns:
        - !Sub arn:\${AWS::Partition}:iam::aws:policy/AmazonSSMManagedInstanceCore
      Policies:
        - PolicyName: millrace
          PolicyDocument:
            Version: '2012-10-17'
            Statement:
              - Effect: Allow
                Action: s3:GetObject
                Resource: !Sub arn:\${AWS::Partition}:s3:::\${Bucket}/\${Package}
              - Effect: Allow
                Action: s3:PutObject
                Resource: !Sub arn:\${AWS::Partition}:s3:::\${Bucket}/${run}/*
              - Effect: Allow
                Action: [ssm:GetParameter, elasticache:Connect, cloudwatch:GetMetricData, cloudwatch:ListMetrics]
                Resource: '*'
  BoxProfile:
    Type: AWS::IAM::InstanceProfile
    Properties:
      Roles: [!Ref BoxRole]
  LastResortRole:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument:
        Version: '2012-10-17'
        Statement:
          - Effect: Allow
            Principal: { Service: scheduler.amazonaws.com }
            Action: sts:AssumeRole
      Policies:
        - PolicyName: terminate
          PolicyDocument:
            Version: '2012-10-17'
            Statement:
              - Effect: Allow
                Action: ec2:TerminateInstances
                Resource: !Sub arn:\${AWS::Partition}:ec2:\${AWS::Region}:\${AWS::AccountId}:instance/*
                Condition:
                  StringEquals: { 'aws:ResourceTag/millrace': !Ref AWS::StackName }
`

/** @param {AwsFleet} fleet */
const control = ({ type, minutes }) => `  Control:
    Type: AWS::EC2::Instance
    Properties:
      ImageId: !Ref Image
      InstanceType: ${controlType(type)}
      SubnetId: !Ref Subnet
      SecurityGroupIds: [!Ref BoxSecurity]
      IamInstanceProfile: !Ref BoxProfile
      InstanceInitiatedShutdownBehavior: terminate
      Tags:
        - { Key: Name, Value: millrace-control }
        - { Key: millrace, Value: !Ref AWS::StackName }
      UserData:
        Fn::Base64: |
          #!/bin/bash
          # The boxes meet here. Only they reach it, by their security group.
          shutdown -h +${minutes + 10}
          dnf install -y -q valkey
          systemd-run --unit millrace-control valkey-server --bind '* -::*' --protected-mode no --save '' --maxmemory-policy noeviction
`

/** @param {AwsFleet} fleet */
const template = ({ type, spot, minutes, run, options, script }) => `  BoxTemplate:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        ImageId: !Ref Image
        InstanceType: ${type}
        InstanceInitiatedShutdownBehavior: terminate
        IamInstanceProfile: { Arn: !GetAtt BoxProfile.Arn }
        MetadataOptions: { HttpTokens: required }
        Placement: { GroupName: !Ref Placement }
${spot ? '        InstanceMarketOptions:\n          MarketType: spot\n          SpotOptions: { SpotInstanceType: one-time, InstanceInterruptionBehavior: terminate }\n' : ''}        UserData:
          Fn::Base64: !Join
            - ''
            - - !Sub |
                #!/bin/bash
                export RUN='${run}' ENDS_IN='${minutes}' OPTIONS='${options}'
                export PACKAGE='s3://\${Bucket}/\${Package}' RESULTS='s3://\${Bucket}/${run}'
                export CONTROL='redis://\${Control.PrivateIp}:6379' PASSWORD_PARAMETER='\${PasswordParameter}'
              - |
${indented(script.replace(/^#!.*\n/, ''), 16)}`

const box = (/** @type {number} */ n) => `  Box${n}:
    Type: AWS::EC2::Instance
    Properties:
      LaunchTemplate: { LaunchTemplateId: !Ref BoxTemplate, Version: !GetAtt BoxTemplate.LatestVersionNumber }
      SubnetId: !Ref Subnet
      SecurityGroupIds: [!Ref BoxSecurity]
      Tags:
        - { Key: Name, Value: millrace-box-${n} }
        - { Key: millrace, Value: !Ref AWS::StackName }
`

/** @param {readonly string[]} names */
const lastResort = (names) => `  LastResort:
    Type: AWS::Scheduler::Schedule
    Properties:
      Description: terminates what did not end by itself
      FlexibleTimeWindow: { Mode: 'OFF' }
      ScheduleExpression: !Sub at(\${EndsAt})
      Target:
        Arn: !Sub arn:\${AWS::Partition}:scheduler:::aws-sdk:ec2:terminateInstances
        RoleArn: !GetAtt LastResortRole.Arn
        Input: !Sub '{"InstanceIds":[${names.map((name) => `"\${${name}}"`).join(',')}]}'
Outputs:
  ControlInstance:
    Description: for aws ssm start-session, to watch the run from elsewhere
    Value: !Ref Control
  Results:
    Value: !Sub s3://\${Bucket}
`

/** @param {AwsFleet} fleet */
const awsTemplate = (fleet) => {
  const numbers = Array.from({ length: fleet.boxes }, (_, i) => i + 1)
  return `AWSTemplateFormatVersion: '2010-09-09'
Description: Millrace ${fleet.version}, the run ${fleet.run} of ${fleet.boxes} boxes
${parameters(fleet)}Resources:
${roles(fleet.run)}${control(fleet)}${template(fleet)}${numbers.map(box).join('')}${lastResort(['Control', ...numbers.map((n) => `Box${n}`)])}`
}

/** How to start, watch and end it. @param {AwsFleet} fleet @param {{ path: string, region: string }} where */
const awsCommands = ({ run, minutes, version }, { path, region }) => {
  const stack = `--region ${region} --stack-name millrace-${run.replace(/[^A-Za-z0-9]+/g, '-')}`
  return [
    `aws cloudformation deploy ${stack} --template-file ${path} --capabilities CAPABILITY_IAM --parameter-overrides Vpc=vpc-... Subnet=subnet-... CacheSecurityGroup=sg-... Bucket=BUCKET Package=millrace-${version}.tgz EndsAt=$(date -u -d '+${minutes + 20} minutes' +%FT%T)`,
    `aws ssm start-session --region ${region} --document-name AWS-StartPortForwardingSession --parameters portNumber=6379,localPortNumber=6390 --target $(aws cloudformation describe-stacks ${stack} --query "Stacks[0].Outputs[?OutputKey=='ControlInstance'].OutputValue" --output text) & millrace fleet watch ${run} --control redis://127.0.0.1:6390`,
    `aws cloudformation delete-stack ${stack}`,
  ]
}

const mostBoxes = 64
const wanted = /^(\d{1,3})x([a-z][a-z0-9-]*\d[a-z0-9-]*\.[a-z0-9-]+)(,on-demand|,spot)?$/
const script = new URL('../../docs/examples/fleet/user-data.sh', import.meta.url)

/** @param {string} text */
const boxesOf = (text) => {
  const [, boxes, type, market] = wanted.exec(text) ?? []
  if (boxes === undefined || Number(boxes) < 1 || Number(boxes) > mostBoxes)
    throw new OptionError(
      `--boxes ${plainText(text).slice(0, 40)}: must be 1 to ${mostBoxes} boxes of a type, as in 8xc7g.large or 8xc7g.large,on-demand`,
    )
  return { boxes: Number(boxes), type, spot: market !== ',on-demand' }
}

/**
 * @param {{ run: string, behind: readonly string[], settings: { boxes: string, region?: string, ttlMs: number, out: string, dryRun: boolean, json: boolean } }} asked
 */
export const awsFiles = async ({ run, behind, settings }) => {
  const { boxes, type, spot } = boxesOf(settings.boxes)
  const options = behind.join(' ')
  if (behind.length === 0)
    throw new OptionError(
      'which run? put the options of millrace write behind --, as in -- --host HOST --tls --cluster -q 3000000 -t 8',
    )
  const fault = optionsFault(behind)
  if (fault) throw new OptionError(fault)
  // They are checked here, and not by boxes that cost money.
  const all = optionsOf('producer')
  const line = typedLine([...behind, '--run', run, '--control', 'redis://control'], all)
  const { durationMs } = settingsOf(line, all, { env: {} })
  if (line.options.has('out'))
    throw new OptionError('--out behind -- is not taken: a box uploads its results, and ends')
  if (typeof durationMs === 'number' && durationMs >= settings.ttlMs)
    throw new OptionError(
      `--ttl of ${clockTime(settings.ttlMs)} ends the boxes before their run, whose --duration is ${clockTime(durationMs)}`,
    )
  const fleet = {
    ...{ run, options, boxes, type, spot, minutes: Math.ceil(settings.ttlMs / 60_000) },
    ...{ script: readFileSync(script, 'utf8'), version: millraceVersion() },
  }
  const price = hourly(fleet)
  const hours = fleet.minutes / 60
  const cost =
    price === null
      ? `the price of ${type} is not known here: look it up`
      : `${price.toFixed(2)} USD an hour (us-east-1, on demand, 2026, with its control; without disks and traffic), at most ${(price * hours).toFixed(2)} until the boxes end themselves${spot ? '; as spot instances less' : ''}`
  const folder = join(settings.out, run)
  const path = join(folder, 'template.yaml')
  const commands = awsCommands(fleet, { path, region: settings.region ?? 'REGION' })
  if (!settings.dryRun) {
    await mkdir(folder, { recursive: true })
    await writeFiles(folder, { 'template.yaml': awsTemplate(fleet) })
  }
  process.stdout.write(
    settings.json
      ? `${JSON.stringify({ boxes, type, spot, usd_per_hour: price, ttl_minutes: fleet.minutes, template: settings.dryRun ? null : path, commands }, null, 2)}\n`
      : [
          `${boxes} boxes of ${type}${spot ? ' (spot)' : ''}: ${cost}`,
          ...(settings.dryRun ? [] : [`written: ${path}`]),
          ...commands.map((line, i) => `${['start', 'watch', 'end'][i].padEnd(6)} ${line}`),
          '',
        ].join('\n'),
  )
}
